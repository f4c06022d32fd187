//! Launches during the pieces of a scope's time, and in the ranges of a row.

use std::ops::{AddAssign, Sub, SubAssign};

use super::innermost::{Innermost, Open};
use crate::memory::{collected, filled};

/// Operations of a device, added up. No sum of 64-bit times is too large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) ns: u128,
    pub(super) kernels: u64,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.ns += other.ns;
        self.kernels += other.kernels;
    }
}

impl Sub for Sum {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { ns: self.ns - other.ns, kernels: self.kernels - other.kernels }
    }
}

impl SubAssign for Sum {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Returns, for each of `items`, the sum of all in front of it; and the sum of all.
pub(super) fn prefixes(items: impl Iterator<Item = Sum>) -> Vec<Sum> {
    let mut total = Sum::default();
    collected(std::iter::once(Sum::default()).chain(items.map(|item| {
        total += item;
        total
    })))
}

/// Ranges of a thread or a process, and the launches during each piece of its time.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) innermost: Innermost,
    sums: Vec<Sum>,
    /// Place of the last call.
    near: usize,
}

impl Timeline {
    pub(super) fn of(opens: Vec<Open>) -> Self {
        let innermost = Innermost::of(opens);
        let sums = filled(Sum::default(), innermost.pieces());
        Self { innermost, sums, near: 0 }
    }

    /// Adds the launches of a call at `at`, and returns the innermost range there.
    pub(super) fn add(&mut self, at: i64, sum: Sum) -> Option<Open> {
        let piece = self.innermost.piece(at, self.near)?;
        self.near = piece;
        self.sums[piece] += sum;
        self.innermost.inside(piece).copied()
    }

    /// Adds to each row the launches in at least one of its ranges: their union is within pieces. No sums are left.
    pub(super) fn inclusive(&mut self, rows: &mut [Sum]) {
        // In place, for there may be a million: the sum of all pieces in front of each.
        let (mut sums, mut total) = (std::mem::take(&mut self.sums), Sum::default());
        for sum in &mut sums {
            total += std::mem::replace(sum, total);
        }
        let before = |piece: usize| sums.get(piece).copied().unwrap_or(total);
        for (row, start, last) in unions(self.innermost.opens()) {
            let pieces = self.innermost.between(start, last);
            rows[row as usize] += before(pieces.end) - before(pieces.start);
        }
    }
}

/// Returns the times that each row's ranges cover, without overlaps, by row and start.
pub(super) fn unions(opens: &[Open]) -> Vec<(u32, i64, i64)> {
    let mut covered: Vec<(u32, i64, i64)> = collected(opens.iter().map(|open| (open.what, open.start, open.last)));
    covered.sort_unstable();
    covered.dedup_by(|next, before| {
        let overlap = before.0 == next.0 && next.1 <= before.2;
        if overlap {
            before.2 = before.2.max(next.2);
        }
        overlap
    });
    covered
}
