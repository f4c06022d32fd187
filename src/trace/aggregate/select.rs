//! Selection of the events that a summary counts.

use std::sync::OnceLock;

use regex::Regex;
use rustc_hash::FxHashMap;

use super::calls::Calls;
use super::coverage::Coverage;
use super::windows::Windows;
use crate::memory::collected;
use crate::trace::readers::named_device;
use crate::trace::{Device, Distinct, Entry, Kind, Range, TotalKind, Trace};

/// Selected events; an empty field or `None` restricts nothing.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Numbers of devices.
    pub devices: Vec<i64>,
    /// Numbers of streams.
    pub streams: Vec<i64>,
    /// Numbers of processes.
    pub processes: Vec<i64>,
    /// Expression for the names of selected events.
    pub filter: Option<Regex>,
    /// Start of the window, after the first device operation of the capture, or its first event without device operations;
    /// events that start earlier are excluded.
    pub since_ns: Option<i64>,
    /// End of the window; events that start then or later are excluded.
    pub until_ns: Option<i64>,
}

/// A device as one process sees it: its clock, its process and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DeviceKey {
    pub(super) clock: u32,
    pub(super) process_id: Option<i64>,
    pub(super) device_id: Option<i64>,
}

/// Properties of each place in [`Chosen::numbers`].
pub(super) struct Numbers {
    pub(super) of: Vec<Number>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Number {
    /// Its place in the list of devices, unless several processes used it.
    pub(super) row: Option<u32>,
    /// For how long it was there, over all processes.
    pub(super) span_ns: u64,
}

/// A selection as it applies to one trace: most of it is decided once for each distinct piece of work.
pub(super) struct Chosen<'a> {
    trace: &'a Trace,
    /// By number of work.
    pub(super) works: Vec<bool>,
    /// By number of callee.
    pub(super) callees: Vec<bool>,
    /// By number of label: whether its process counts.
    pub(super) labels: Vec<bool>,
    /// False if the selection leaves out all totals and metrics: their times, processes and streams are unknown.
    pub(super) takes_totals: bool,
    /// Selected totals by number.
    pub(super) totals: Vec<bool>,
    /// Selected metrics by number.
    pub(super) metrics: Vec<bool>,
    /// None without a window of time.
    windows: Option<Windows>,
    /// The first clock of each name.
    pub(super) clocks: Vec<u32>,
    /// Devices of all captures, each once, also where several captures contain it.
    pub(super) devices: Distinct<DeviceKey>,
    /// By place in [`Trace::devices`]: a place there.
    pub(super) device_of: Vec<u32>,
    /// Devices by clock and number, for any process: lists of activities have rows for these.
    pub(super) numbers: Distinct<(u32, Option<i64>)>,
    /// By place in `devices`: a place there.
    pub(super) number_of: Vec<u32>,
    /// Made when first used, as the next.
    calls: OnceLock<Calls<'a>>,
    coverage: OnceLock<Coverage>,
}

/// Returns the process of each device. If a capture does not record it, and only one process is known on its clock, it is that
/// one: a part of a trace may hold no calls.
fn processes(trace: &Trace, clocks: &[u32]) -> Vec<Option<i64>> {
    let clock_of = |clock: u32| clocks[clock as usize];
    let of_devices = trace.devices.iter().map(|device| (clock_of(device.clock), device.process_id));
    let of_callees = trace.callees.all().iter().map(|callee| (clock_of(callee.clock), callee.process_id));
    let mut known: Vec<(u32, i64)> =
        collected(of_devices.chain(of_callees).filter_map(|(clock, process)| Some((clock, process?))));
    known.sort_unstable();
    known.dedup();
    let only = |clock: u32| {
        let on = clock_of(clock);
        let mut found = known[known.partition_point(|&(one, _)| one < on)..].iter().take_while(|&&(one, _)| one == on);
        found.next().filter(|_| found.next().is_none()).map(|&(_, process)| process)
    };
    collected(trace.devices.iter().map(|device| device.process_id.or_else(|| only(device.clock))))
}

impl<'a> Chosen<'a> {
    pub(super) fn new(trace: &'a Trace, selection: &Selection) -> Self {
        let named = |name| selection.filter.as_ref().is_none_or(|filter| filter.is_match(trace.names.text(name)));
        let one_of =
            |wanted: &[i64], found: Option<i64>| wanted.is_empty() || found.is_some_and(|id| wanted.contains(&id));
        let mut first: FxHashMap<&str, u32> = FxHashMap::default();
        let clocks: Vec<u32> =
            collected((0..).zip(&trace.clocks).map(|(place, clock)| *first.entry(clock).or_insert(place)));
        let mut devices = Distinct::default();
        let key = |(device, process_id): (&Device, Option<i64>)| DeviceKey {
            clock: clocks[device.clock as usize],
            process_id,
            device_id: device.device_id,
        };
        let processes = processes(trace, &clocks);
        let device_of = collected(trace.devices.iter().zip(processes).map(|device| devices.intern(key(device))));
        let mut numbers = Distinct::default();
        let number_of = collected(devices.all().iter().map(|key| numbers.intern((key.clock, key.device_id))));
        let works = trace.works.all().iter().map(|work| {
            let device: DeviceKey = devices.all()[device_of[work.queue.device as usize] as usize];
            one_of(&selection.devices, device.device_id)
                && one_of(&selection.processes, device.process_id)
                && one_of(&selection.streams, work.queue.stream)
                && match work.kind {
                    Kind::Kernel(name, _) => named(name.full),
                    Kind::Memory { kind, .. } => named(kind),
                }
        });
        let works = collected(works);
        let callees = trace.callees.all().iter();
        let callees = callees.map(|callee| one_of(&selection.processes, callee.process_id) && named(callee.name));
        let labels = trace.labels.all().iter().map(|label| one_of(&selection.processes, label.process_id));
        let has_window = selection.since_ns.is_some() || selection.until_ns.is_some();
        let is_whole = selection.streams.is_empty() && selection.processes.is_empty() && !has_window;
        let totals = trace.totals.iter().map(|total| {
            let (name, anywhere) = match total.kind {
                TotalKind::Kernel(name) => (name.full, false),
                TotalKind::Memory(kind) => (kind, false),
                TotalKind::Call(function) => (function, true),
            };
            is_whole && named(name) && (anywhere || one_of(&selection.devices, total.device_id))
        });
        let metrics = trace.metrics.iter().map(|metric| {
            is_whole
                && selection.filter.as_ref().is_none_or(|filter| filter.is_match(&metric.kernel))
                && one_of(&selection.devices, named_device(&metric.device).1)
        });
        let window = || Windows::of(trace, &clocks, selection.since_ns, selection.until_ns);
        Self {
            trace,
            works,
            callees: collected(callees),
            labels: collected(labels),
            takes_totals: is_whole,
            totals: collected(totals),
            metrics: collected(metrics),
            windows: has_window.then(window),
            clocks,
            devices,
            device_of,
            numbers,
            number_of,
            calls: OnceLock::new(),
            coverage: OnceLock::new(),
        }
    }

    /// The index of all calls, whether or not they count.
    pub(super) fn calls(&self) -> &Calls<'a> {
        let user = |place| {
            let device = self.device(place);
            (device.clock, device.process_id)
        };
        self.calls.get_or_init(|| Calls::new(self.trace, &self.clocks, user))
    }

    /// Returns the time that captures cover.
    pub(super) fn coverage(&self) -> &Coverage {
        self.coverage.get_or_init(|| {
            Coverage::of(self.trace, self.devices.all().len(), &self.device_of, |entry| self.operation(entry))
        })
    }

    /// A device of [`Trace::devices`].
    pub(super) fn device(&self, place: u32) -> DeviceKey {
        self.devices.all()[self.device_of[place as usize] as usize]
    }

    /// The number of a device of [`Trace::devices`]: its place in `numbers`.
    pub(super) fn number(&self, place: u32) -> u32 {
        self.number_of[self.device_of[place as usize] as usize]
    }

    /// Returns true if an operation of a device is selected.
    #[inline]
    pub(super) fn operation(&self, entry: &Entry) -> bool {
        let what = entry.what as usize;
        self.works[what] && self.windows.as_ref().is_none_or(|windows| windows.works[what].holds(entry.start))
    }

    /// Returns true if a call is selected.
    pub(super) fn call(&self, entry: &Entry) -> bool {
        let what = entry.what as usize;
        self.callees[what] && self.windows.as_ref().is_none_or(|windows| windows.callees[what].holds(entry.start))
    }

    /// Returns true if a range is selected. Its name does not matter: names are those of activities.
    pub(super) fn range(&self, range: &Range) -> bool {
        let label = range.label as usize;
        self.labels[label] && self.windows.as_ref().is_none_or(|windows| windows.labels[label].holds(range.start))
    }
}
