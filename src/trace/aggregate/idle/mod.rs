//! Why devices were idle: every idle interval in pieces, each with one cause.

mod cause;
mod gaps;
mod host;
mod loaders;
mod spans;
#[cfg(test)]
mod tests;

pub(super) use cause::Cause;
pub(super) use gaps::Gaps;

use super::launched::launched;
use super::select::Chosen;
use crate::trace::{Distinct, IdleRow, Trace};

/// A piece of an idle interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The place in [`Trace::devices`] of the operation with which the interval ends.
    device: u32,
    start: i64,
    /// After the start.
    end: i64,
    cause: Cause,
}

/// A part of a time when a device was idle, for one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The place in [`Trace::devices`] of the operation that ended that time.
    pub device: u32,
    /// Nanoseconds on its clock.
    pub start: i64,
    /// After the start.
    pub end: i64,
    /// As summaries call it.
    pub cause: &'static str,
}

/// All pieces, by device and start. `data_loaders` are found in the names of ranges in which a thread waits for data.
pub(super) fn pieces(trace: &Trace, chosen: &Chosen<'_>, data_loaders: &[String]) -> Vec<Piece> {
    let (mut pieces, mut gaps) = (Vec::new(), Gaps::new(trace, chosen, data_loaders));
    let named = |Cut { device, start, end, cause }| Piece { device, start, end, cause: cause.name() };
    for (entry, launch) in launched(trace, chosen).filter(|(entry, _)| chosen.operation(entry)) {
        gaps.add(&entry, launch.as_ref(), &mut |cut| pieces.push(named(cut)));
    }
    gaps.finish(&mut |cut| pieces.push(named(cut)));
    pieces.sort_by_key(|piece| (piece.device, piece.start));
    pieces
}

/// Sums of pieces: a row for each device and cause.
#[derive(Debug)]
pub(super) struct Rows {
    /// By place of a device: that of its number.
    places: Vec<u32>,
    numbers: Distinct<Option<i64>>,
    /// Number of pieces and their length, by place of a number and by cause.
    sums: Vec<[(u64, u64); Cause::ALL.len()]>,
}

impl Rows {
    pub(super) fn new(trace: &Trace) -> Self {
        let mut numbers = Distinct::default();
        let places = trace.devices.iter().map(|device| numbers.intern(device.device_id)).collect();
        let sums = vec![Default::default(); numbers.all().len()];
        Self { places, numbers, sums }
    }

    pub(super) fn add(&mut self, piece: &Cut) {
        let number = self.places[piece.device as usize] as usize;
        let (count, total) = &mut self.sums[number][piece.cause as usize];
        (*count, *total) = (*count + 1, total.saturating_add(piece.end.abs_diff(piece.start)));
    }

    pub(super) fn rows(&self) -> Vec<IdleRow> {
        let mut rows: Vec<IdleRow> = Vec::new();
        for (&device_id, sums) in self.numbers.all().iter().zip(&self.sums) {
            let of_causes = Cause::ALL.into_iter().zip(sums).filter(|(_, (count, _))| *count > 0);
            rows.extend(of_causes.map(|(cause, &(count, total_ns))| IdleRow {
                device_id,
                cause: cause.name(),
                count,
                total_ns,
            }));
        }
        // The rows of a device stay in the order of causes.
        rows.sort_by_key(|row| row.device_id);
        rows
    }
}
