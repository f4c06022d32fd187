//! All that readers have read: the events of one or more captures.

use super::capture::{Capture, Warning};
use super::distinct::Distinct;
use super::log::Log;
use super::names::{NameId, Names};
use super::work::Work;

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
        let place = self.devices.iter().rposition(same).unwrap_or_else(|| {
            self.devices.push(Device { clock, device_id, process_id, name: None });
            self.devices.len() - 1
        });
        place as u32
    }
}
