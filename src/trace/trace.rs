//! All that readers have read: the events of one or more captures.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::capture::{Capture, LeftOut, Warning};
use super::distinct::Distinct;
use super::log::Log;
use super::names::{NameId, Names};
use super::range::{Label, Range};
use super::summary::MetricRow;
use super::total::{Total, TotalKind};
use super::work::{KernelName, Kind, Queue, Work};
use crate::error::words;
use crate::memory::{self, Room as _};

/// A device as one process of one capture saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Device {
    /// Place in [`Trace::captures`] of the capture that records it.
    pub capture: u32,
    /// A place in [`Trace::clocks`].
    pub clock: u32,
    /// Its number there.
    pub device_id: Option<i64>,
    /// The process that used it.
    pub process_id: Option<i64>,
    /// Product name.
    pub name: Option<String>,
}

words! {
    /// Part of a capture to read, if its format has tables that can be skipped.
    #[derive(Default)]
    pub enum Extent {
        /// Everything.
        #[default]
        Whole = "whole",
        /// Kernels, copies and sets: no calls and no ranges of the host.
        Devices = "devices",
        /// Kernels alone.
        Kernels = "kernels",
    }
}

/// The events of one or more captures.
#[derive(Debug, Default)]
pub struct Trace {
    /// The files, in the order in which they were read.
    pub captures: Vec<Capture>,
    /// Number of captures in front of these, in the trace of which this will be a part.
    pub(super) first: usize,
    /// Tables to read, if a format has tables that can be skipped.
    pub extent: Extent,
    /// Files that could have been captures and were none.
    pub left_out: Vec<LeftOut>,
    /// Warnings of their readers.
    pub warnings: Vec<Warning>,
    /// Texts, to which everything here refers.
    pub names: Names,
    /// Names of clocks; times of different clocks cannot be compared.
    pub clocks: Vec<String>,
    /// A place of each name there.
    clock_places: FxHashMap<String, u32>,
    /// Devices, to which `works` refers.
    pub devices: Vec<Device>,
    /// Place of each there.
    places: FxHashMap<Place, u32>,
    /// Activities of devices, to which `kernels` and `memory` refer.
    pub works: Distinct<Work>,
    /// Runs of kernels.
    pub kernels: Log,
    /// Copies and sets.
    pub memory: Log,
    /// Functions that hosts called, to which `calls` and `operators` refer.
    pub callees: Distinct<Callee>,
    /// Calls of the device's interface on the host.
    pub calls: Log,
    /// Operators of the CPU, to which `callees` gives names; only of captures without a GPU.
    pub operators: Log,
    /// Names of the program's ranges, to which `ranges` refers.
    pub labels: Distinct<Label>,
    /// Times of the ranges, in the order in which they were read.
    pub ranges: Vec<Range>,
    /// Totals of events that captures do not list.
    pub totals: Vec<Total>,
    /// Counters of devices while kernels ran.
    pub metrics: Vec<MetricRow>,
}

/// A device's capture, clock, process and number.
type Place = (u32, u32, Option<i64>, Option<i64>);

/// A function of the device's interface, or an operator, as a process called it in one capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Callee {
    /// Place in [`Trace::captures`] of the capture that records the calls.
    pub capture: u32,
    /// A place in [`Trace::clocks`].
    pub clock: u32,
    /// The process that called.
    pub process_id: Option<i64>,
    /// Its thread, by the number that the capture gives it.
    pub thread_id: Option<i64>,
    /// The function.
    pub name: NameId,
}

impl Trace {
    /// A trace that will be appended to one of so many captures.
    pub fn behind(first: usize) -> Self {
        Self { first, ..Self::default() }
    }

    /// The number of the capture that is about to be read: no other has it that is read together with this one.
    pub fn capture_number(&self) -> usize {
        self.first + self.captures.len()
    }

    /// A clock, for the events of a capture that is about to be read.
    pub fn add_clock(&mut self, name: String) -> u32 {
        let place = self.clocks.len() as u32;
        self.clock_places.entry(name.clone()).or_insert(place);
        self.clocks.push(name);
        place
    }

    /// Renames a clock of the capture that is being read.
    pub(super) fn rename_clock(&mut self, clock: u32, name: String) {
        let known = &mut self.clocks[clock as usize];
        if self.clock_places.get(known) == Some(&clock) {
            self.clock_places.remove(known);
        }
        self.clock_places.entry(name.clone()).or_insert(clock);
        *known = name;
    }

    /// The place of a device of the capture that is being read, which is added if it is new.
    pub fn device(&mut self, clock: u32, process_id: Option<i64>, device_id: Option<i64>) -> u32 {
        self.device_of(self.captures.len() as u32, clock, process_id, device_id)
    }

    /// The place of a function that the capture that is being read records, which is added if it is new.
    pub fn callee(&mut self, clock: u32, process_id: Option<i64>, thread_id: Option<i64>, name: NameId) -> u32 {
        let capture = self.captures.len() as u32;
        self.callees.intern(Callee { capture, clock, process_id, thread_id, name })
    }

    fn device_of(&mut self, capture: u32, clock: u32, process_id: Option<i64>, device_id: Option<i64>) -> u32 {
        let key = (capture, clock, process_id, device_id);
        let same = |device: &Device| (device.capture, device.clock, device.process_id, device.device_id) == key;
        // Hardly any machine has more; with thousands in a file, a search of all would never end.
        let first = self.devices.len().saturating_sub(8);
        if let Some(place) = self.devices[first..].iter().rposition(same) {
            return (first + place) as u32;
        }
        *self.places.entry(key).or_insert_with(|| {
            self.devices.push(Device { capture, clock, device_id, process_id, name: None });
            (self.devices.len() - 1) as u32
        })
    }

    /// Takes all devices of a trace that has none yet.
    pub(super) fn set_devices(&mut self, devices: Vec<Device>) {
        for (place, device) in (0..).zip(&devices) {
            self.places.insert((device.capture, device.clock, device.process_id, device.device_id), place);
        }
        self.devices = devices;
    }

    /// Describes the devices of `clock` in the capture that is being read: their names, and the process of those without one.
    pub fn describe_devices(
        &mut self,
        clock: u32,
        process_id: Option<i64>,
        name: impl Fn(Option<i64>) -> Option<String>,
    ) {
        let capture = self.captures.len() as u32;
        let these = |device: &Device| device.clock == clock && device.capture == capture;
        for (place, device) in (0..).zip(&mut self.devices).filter(|(_, device)| these(device)) {
            let process_id = device.process_id.or(process_id);
            self.places.remove(&(capture, clock, device.process_id, device.device_id));
            self.places.insert((capture, clock, process_id, device.device_id), place);
            (device.process_id, device.name) = (process_id, name(device.device_id));
        }
    }

    /// Names the runner of all ranges: no other ran while its file was written.
    pub(super) fn set_runner(&mut self, runner: &str) {
        let runner = Some(self.names.intern(runner));
        let mut labels = Distinct::default();
        for label in self.labels.all() {
            labels.intern(Label { runner, ..*label });
        }
        self.labels = labels;
    }

    /// Returns the number of device operations, listed or in totals.
    pub fn operations(&self) -> u64 {
        self.kernels.len() + self.memory.len() + self.totals.len() as u64 + self.metrics.len() as u64
    }

    /// Appends a part of the same capture, or of another, that was read separately; clocks with equal names are one.
    pub fn append(&mut self, part: Self) {
        if self.captures.is_empty() && self.left_out.is_empty() && self.clocks.is_empty() && self.names.is_empty() {
            *self = Self { first: self.first, ..part };
            return;
        }
        let before = self.captures.len() as u32;
        let names: Vec<NameId> = memory::collected(part.names.all().map(|text| self.names.intern(text)));
        let name = |id: NameId| names[id.place()];
        let kernel = |KernelName { full, short, mangled }: KernelName| KernelName {
            full: name(full),
            short: short.map(name),
            mangled: mangled.map(name),
        };
        let clock = |clock: String| match self.clock_places.get(&clock) {
            Some(&place) => place,
            None => self.add_clock(clock),
        };
        let clocks: Vec<u32> = part.clocks.into_iter().map(clock).collect();
        let device = |device: Device| {
            let clock = clocks[device.clock as usize];
            let place = self.device_of(before + device.capture, clock, device.process_id, device.device_id);
            let known = &mut self.devices[place as usize].name;
            *known = known.take().or(device.name);
            place
        };
        let devices: Vec<u32> = part.devices.into_iter().map(device).collect();
        let work = |work: &Work| {
            let queue = Queue { device: devices[work.queue.device as usize], ..work.queue };
            let kind = match work.kind {
                Kind::Kernel(names, shape) => Kind::Kernel(kernel(names), shape),
                Kind::Memory { name: whole, kind, sized } => {
                    Kind::Memory { name: name(whole), kind: name(kind), sized }
                }
            };
            self.works.intern(Work { queue, in_graph: work.in_graph, kind })
        };
        let works = memory::shared(part.works.all().iter().map(work));
        let callee = |callee: &Callee| {
            let clock = clocks[callee.clock as usize];
            let capture = before + callee.capture;
            self.callees.intern(Callee { capture, clock, name: name(callee.name), ..*callee })
        };
        let callees = memory::shared(part.callees.all().iter().map(callee));
        let label = |label: &Label| {
            let clock = clocks[label.clock as usize];
            let (domain, runner) = (label.domain.map(name), label.runner.map(name));
            let capture = before + label.capture;
            self.labels.intern(Label { capture, clock, name: name(label.name), domain, runner, ..*label })
        };
        let labels: Vec<u32> = memory::collected(part.labels.all().iter().map(label));
        self.ranges.room(part.ranges.len());
        self.totals.room(part.totals.len());
        self.metrics.room(part.metrics.len());
        self.ranges.extend(part.ranges.iter().map(|range| Range { label: labels[range.label as usize], ..*range }));
        self.totals.extend(part.totals.iter().map(|total| {
            let kind = match total.kind {
                TotalKind::Kernel(name) => TotalKind::Kernel(kernel(name)),
                TotalKind::Memory(kind) => TotalKind::Memory(name(kind)),
                TotalKind::Call(function) => TotalKind::Call(name(function)),
            };
            Total { kind, ..*total }
        }));
        self.metrics.extend(part.metrics);
        self.captures.extend(part.captures);
        self.left_out.extend(part.left_out);
        self.warnings.extend(part.warnings);
        self.kernels.append(part.kernels, &works);
        self.memory.append(part.memory, &works);
        self.operators.append(part.operators, &callees);
        self.calls.append(part.calls, &callees);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_one_by_the_names_that_they_have_now() {
        let part = |names: [&str; 2]| {
            let mut part = Trace::default();
            let clocks = ["x", "y"].map(|name| part.add_clock(name.to_owned()));
            for (clock, name) in clocks.into_iter().zip(names) {
                part.rename_clock(clock, name.to_owned());
            }
            Trace::from_bytes(&part.to_bytes().expect("bytes")).expect("a trace")
        };
        let mut whole = Trace::default();
        for names in [["y", "a"], ["a", "x"], ["b", "y"], ["x", "b"]] {
            whole.append(part(names));
        }
        assert_eq!(whole.clocks, ["y", "a", "x", "b"]);
        whole.rename_clock(1, "c".to_owned());
        whole.append(part(["a", "c"]));
        assert_eq!(whole.clocks, ["y", "c", "x", "b", "a"]);
    }
}
