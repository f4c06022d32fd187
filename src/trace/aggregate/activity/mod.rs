//! Activity of devices over time, in bins. One pass: bins become longer as time goes on.

mod series;
#[cfg(test)]
mod tests;

use crate::memory::filled;
use crate::trace::{Activity, Busy, Entry};
use series::Series;

/// Most bins of a device, and of all devices together.
const BINS: usize = 400;
const ALL_BINS: usize = 6_400;
/// More devices have no bins: too few would be left for each.
const MOST_DEVICES: usize = 256;
/// Most bins of all rows of budgets: in a damaged file, each of thousands of copies may be a kind of its own.
const ROW_BINS: usize = 400_000;
/// Bins are finer by this factor until the end of the time is known.
const FINER: usize = 8;

/// Bins of every device, and of each row of its budget.
pub(super) struct Activities {
    /// Most bins of a device.
    most: usize,
    devices: Vec<Device>,
    /// By row of the budget.
    rows: Vec<Series>,
}

#[derive(Debug, Clone, Default)]
struct Device {
    /// First start.
    origin: Option<i64>,
    /// Up to where the device was busy.
    covered: i64,
    /// Length of a bin, as a power of two.
    shift: u32,
    busy: Series,
}

/// Final bins of a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bins {
    start_ns: i64,
    shift: u32,
    /// Number of bins of `1 << shift` in each.
    merged: usize,
    count: usize,
}

impl Activities {
    /// Bins of so many devices with so many rows; `None` if there are too many of either.
    pub(super) fn of(devices: usize, rows: usize) -> Option<Self> {
        let most = BINS.min(ALL_BINS / devices.max(1));
        let few = devices <= MOST_DEVICES && rows <= ROW_BINS / most;
        few.then(|| Self { most, devices: filled(Device::default(), devices), rows: filled(Series::default(), rows) })
    }

    /// Takes an operation of a device and of a row of its budget; starts ascend.
    #[inline]
    pub(super) fn add(&mut self, device: u32, row: u32, entry: &Entry) {
        let (fine, device) = (self.most * FINER, &mut self.devices[device as usize]);
        let origin = *device.origin.get_or_insert_with(|| {
            device.covered = entry.start;
            entry.start
        });
        let (from, to) = (entry.start.abs_diff(origin), entry.end.abs_diff(origin));
        while to > 0 && (to - 1) >> device.shift >= fine as u64 {
            device.shift += 1;
        }
        device.busy.add(entry.start.max(device.covered).abs_diff(origin), to, device.shift, fine);
        device.covered = device.covered.max(entry.end);
        self.rows[row as usize].add(from, to, device.shift, fine);
    }

    /// The bins of a device; `None` without an operation.
    pub(super) fn bins(&self, device: usize, busy: &Busy) -> Option<Bins> {
        let (&Device { origin, shift, .. }, (first, last)) = (&self.devices[device], busy.span()?);
        let fine = last.abs_diff(first).div_ceil(1 << shift);
        let merged = fine.div_ceil(self.most as u64).max(1);
        Some(Bins { start_ns: origin?, shift, merged: merged as usize, count: fine.div_ceil(merged) as usize })
    }

    /// The activity of a device, without categories.
    pub(super) fn activity(&self, device: usize, bins: Bins) -> Activity {
        let bin_ns = (bins.merged as u64) << bins.shift;
        let busy_ns = self.devices[device].busy.bins(bins.shift, bins.merged, bins.count);
        Activity { start_ns: bins.start_ns, bin_ns, busy_ns, ..Activity::default() }
    }

    /// The times of a row of the budget.
    pub(super) fn row(&self, row: usize, bins: Bins) -> Vec<u64> {
        self.rows[row].bins(bins.shift, bins.merged, bins.count)
    }
}
