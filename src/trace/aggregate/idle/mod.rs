//! Causes of idle time: every idle interval in pieces, each with one cause.

mod cause;
mod gaps;
mod host;
mod loaders;
mod overlapping;
mod spans;
#[cfg(test)]
mod tests;

pub(super) use cause::Cause;
pub(super) use gaps::Gaps;

use std::cmp::Reverse;

use super::launched::launched;
use super::select::{Chosen, Numbers};
use crate::memory::{self, Room as _};
use crate::trace::{BudgetRow, IdleRow, Trace};

/// A piece of an idle interval, or several of one cause as if they were one of their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The place in [`Trace::devices`] of the operation with which the interval ends.
    device: u32,
    start: i64,
    /// After the start.
    end: i64,
    cause: Cause,
    /// Number of pieces.
    count: u64,
    /// True if the operation waited for nothing but an operation of its own stream.
    in_stream: bool,
}

/// The part of an idle interval before the launch of the operation behind it.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// The function that launched it: of a process and a thread.
    callee: u32,
    /// A place in [`Trace::devices`].
    device: u32,
    start: i64,
    /// After the start.
    end: i64,
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
    /// Name of the cause in summaries.
    pub cause: &'static str,
}

/// All pieces, by device and start. `data_loaders` are found in the names of ranges in which a thread waits for data.
pub(super) fn pieces(trace: &Trace, chosen: &Chosen<'_>, data_loaders: &[String]) -> Vec<Piece> {
    let (mut pieces, mut gaps) = (Vec::new(), Gaps::new(trace, chosen, data_loaders, true));
    let named = |Cut { device, start, end, cause, .. }| Piece { device, start, end, cause: cause.name() };
    for (entry, launch) in launched(trace, chosen).filter(|(entry, _)| chosen.operation(entry)) {
        gaps.add(&entry, launch.as_ref(), &mut |cut| pieces.put(named(cut)));
    }
    gaps.finish(&mut |cut| pieces.put(named(cut)));
    memory::probe(size_of_val(pieces.as_slice()));
    pieces.sort_by_key(|piece| (piece.device, piece.start));
    pieces
}

/// Sums of pieces, by device and cause.
pub(super) struct Sums<'a> {
    chosen: &'a Chosen<'a>,
    /// Number of pieces and their length, by place of a device and by cause.
    of_devices: Vec<[(u64, u64); Cause::ALL.len()]>,
    /// By place of a device: length of the pieces between operations of one stream.
    in_streams: Vec<u64>,
}

impl<'a> Sums<'a> {
    pub(super) fn new(chosen: &'a Chosen<'a>) -> Self {
        let devices = chosen.devices.all().len();
        Self { chosen, of_devices: vec![Default::default(); devices], in_streams: vec![0; devices] }
    }

    pub(super) fn add(&mut self, piece: &Cut) {
        let device = self.chosen.device_of[piece.device as usize] as usize;
        let (count, total) = &mut self.of_devices[device][piece.cause as usize];
        let length = piece.end.abs_diff(piece.start);
        (*count, *total) = (*count + piece.count, total.saturating_add(length));
        if piece.in_stream {
            self.in_streams[device] = self.in_streams[device].saturating_add(length);
        }
    }

    /// The causes of each device.
    pub(super) fn of_devices(&self) -> impl Iterator<Item = Vec<BudgetRow>> {
        let row =
            |(cause, count, total_ns): (Cause, u64, u64)| BudgetRow { name: cause.name().to_owned(), count, total_ns };
        self.of_devices.iter().map(move |sums| causes(sums).map(row).collect())
    }

    /// A row for each number of a device and cause, the longest of a number first.
    pub(super) fn rows(&self, numbers: &Numbers) -> Vec<IdleRow> {
        let mut of_numbers = vec![<[(u64, u64); Cause::ALL.len()]>::default(); numbers.of.len()];
        let mut in_streams = vec![0_u64; numbers.of.len()];
        for ((&number, sums), in_stream) in self.chosen.number_of.iter().zip(&self.of_devices).zip(&self.in_streams) {
            let sum = &mut in_streams[number as usize];
            *sum = sum.saturating_add(*in_stream);
            for ((count, total), (more, time)) in of_numbers[number as usize].iter_mut().zip(sums) {
                (*count, *total) = (*count + more, total.saturating_add(*time));
            }
        }
        let mut rows: Vec<IdleRow> = Vec::new();
        let sums = of_numbers.iter().zip(in_streams);
        for ((&(_, device_id), number), (sums, in_stream)) in
            self.chosen.numbers.all().iter().zip(&numbers.of).zip(sums)
        {
            let row = |(cause, count, total_ns): (Cause, u64, u64)| IdleRow {
                device_id,
                device: number.row,
                cause: cause.name(),
                count,
                total_ns,
                in_stream_ns: (cause == Cause::Dependency).then_some(in_stream),
            };
            rows.extend(causes(sums).map(row));
        }
        // Of causes that took as long, the one that counts first is first.
        rows.sort_by_key(|row| (row.device_id, row.device, Reverse(row.total_ns)));
        rows
    }
}

fn causes(sums: &[(u64, u64); Cause::ALL.len()]) -> impl Iterator<Item = (Cause, u64, u64)> {
    Cause::ALL
        .into_iter()
        .zip(sums)
        .filter(|(_, (count, _))| *count > 0)
        .map(|(cause, &(count, time))| (cause, count, time))
}
