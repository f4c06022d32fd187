//! All that readers have read: the events of one or more captures.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::capture::{Capture, Warning};
use super::distinct::Distinct;
use super::log::Log;
use super::names::{NameId, Names};
use super::work::{KernelName, Kind, Queue, Work};

/// A device as one process of one capture saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Device {
    /// A place in [`Trace::clocks`].
    pub clock: u32,
    /// Its number there.
    pub device_id: Option<i64>,
    /// The process that used it.
    pub process_id: Option<i64>,
    /// What its maker calls it.
    pub name: Option<String>,
}

/// The events of one or more captures.
#[derive(Debug)]
pub struct Trace {
    /// The files, in the order in which they were read.
    pub captures: Vec<Capture>,
    /// What their readers want to be known.
    pub warnings: Vec<Warning>,
    /// Texts, to which everything here refers.
    pub names: Names,
    /// What sets apart events whose times cannot be compared. Two that are called the same are the same.
    pub clocks: Vec<String>,
    /// Devices, to which `works` refers.
    pub devices: Vec<Device>,
    /// Where each stands there, by clock, process and number.
    places: FxHashMap<(u32, Option<i64>, Option<i64>), u32>,
    /// What devices did, to which `kernels` and `memory` refer.
    pub works: Distinct<Work>,
    /// Runs of kernels.
    pub kernels: Log,
    /// Copies and sets.
    pub memory: Log,
    /// What hosts called, to which `calls` refers.
    pub callees: Distinct<Callee>,
    /// Calls of the device's interface on the host.
    pub calls: Log,
}

/// A function of the device's interface, as a process called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Callee {
    /// A place in [`Trace::clocks`].
    pub clock: u32,
    /// The process that called.
    pub process_id: Option<i64>,
    /// The function.
    pub name: NameId,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            captures: Vec::new(),
            warnings: Vec::new(),
            names: Names::default(),
            clocks: Vec::new(),
            devices: Vec::new(),
            places: FxHashMap::default(),
            works: Distinct::default(),
            kernels: Log::new(false),
            memory: Log::new(true),
            callees: Distinct::default(),
            calls: Log::new(false),
        }
    }
}

impl Trace {
    /// A clock, for the events of a capture that is about to be read.
    pub fn add_clock(&mut self, name: String) -> u32 {
        self.clocks.push(name);
        (self.clocks.len() - 1) as u32
    }

    /// The place of a device, which is added if it is new.
    pub fn device(&mut self, clock: u32, process_id: Option<i64>, device_id: Option<i64>) -> u32 {
        let same =
            |device: &Device| device.device_id == device_id && device.process_id == process_id && device.clock == clock;
        // Hardly any machine has more; where a file tells of thousands, looking through all would never end.
        let first = self.devices.len().saturating_sub(8);
        if let Some(place) = self.devices[first..].iter().rposition(same) {
            return (first + place) as u32;
        }
        *self.places.entry((clock, process_id, device_id)).or_insert_with(|| {
            self.devices.push(Device { clock, device_id, process_id, name: None });
            (self.devices.len() - 1) as u32
        })
    }

    /// Says of the devices of `clock`, which no process has yet, who used them, and what they are called.
    pub fn describe_devices(
        &mut self,
        clock: u32,
        process_id: Option<i64>,
        name: impl Fn(Option<i64>) -> Option<String>,
    ) {
        for (place, device) in (0..).zip(&mut self.devices).filter(|(_, device)| device.clock == clock) {
            self.places.remove(&(clock, device.process_id, device.device_id));
            self.places.insert((clock, process_id, device.device_id), place);
            (device.process_id, device.name) = (process_id, name(device.device_id));
        }
    }

    /// Takes over what was read of the same capture, or of another, apart from this; clocks of one name are one.
    pub fn append(&mut self, part: Self) {
        let names: Vec<NameId> = part.names.all().map(|text| self.names.intern(text)).collect();
        let name = |id: NameId| names[id.place()];
        let clocks: Vec<u32> = part
            .clocks
            .into_iter()
            .map(|clock| match self.clocks.iter().position(|known| *known == clock) {
                Some(place) => place as u32,
                None => self.add_clock(clock),
            })
            .collect();
        let devices: Vec<u32> = part
            .devices
            .into_iter()
            .map(|device| {
                let place = self.device(clocks[device.clock as usize], device.process_id, device.device_id);
                let known = &mut self.devices[place as usize].name;
                *known = known.take().or(device.name);
                place
            })
            .collect();
        let works: Arc<[u32]> = part
            .works
            .all()
            .iter()
            .map(|work| {
                let queue = Queue { device: devices[work.queue.device as usize], ..work.queue };
                let kind = match work.kind {
                    Kind::Kernel(KernelName { full, short, mangled }, shape) => {
                        let names = KernelName { full: name(full), short: short.map(name), mangled: mangled.map(name) };
                        Kind::Kernel(names, shape)
                    }
                    Kind::Memory { name: whole, kind, sized } => {
                        Kind::Memory { name: name(whole), kind: name(kind), sized }
                    }
                };
                self.works.intern(Work { queue, kind })
            })
            .collect();
        let callees: Arc<[u32]> = part
            .callees
            .all()
            .iter()
            .map(|callee| {
                let clock = clocks[callee.clock as usize];
                self.callees.intern(Callee { clock, name: name(callee.name), ..*callee })
            })
            .collect();
        self.captures.extend(part.captures);
        self.warnings.extend(part.warnings);
        self.kernels.append(part.kernels, &works);
        self.memory.append(part.memory, &works);
        self.calls.append(part.calls, &callees);
    }
}
