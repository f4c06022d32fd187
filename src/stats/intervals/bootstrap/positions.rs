//! Positions of the samples of a resample: drawn at random, or given by the caller.

use crate::error::{Error, Result};
use crate::memory::{self, Room as _};
use crate::stats::samples::check;
use crate::stats::samples::random::Positions;

/// Source of the positions of resamples, piece by piece.
pub(super) trait Source {
    /// The next so many positions below `n`; at most [`PIECE`] of them.
    fn take(&mut self, n: usize, count: usize) -> Result<&[u32]>;
}

/// Number of positions in a piece: they stay in the first-level cache, and a piece is worth a call.
const PIECE: usize = 2048;

/// The sizes of pieces that together have `count` positions, as even as may be.
pub(super) fn pieces(count: usize) -> impl Iterator<Item = usize> {
    let size = count.div_ceil(count.div_ceil(PIECE).max(1)).max(1);
    (0..count).step_by(size).map(move |done| size.min(count - done))
}

/// A caller waits for about as many draws, a few milliseconds, before it is asked whether it still does.
pub(super) const PATIENCE: usize = 1 << 22;

/// Positions at random.
pub(super) struct Drawn<'a> {
    positions: Positions,
    /// Positions below `n` that have been made; those before `used` have been taken.
    made: Vec<u32>,
    n: usize,
    used: usize,
    /// True if the next piece will be below the same number, so that it is worth making more of them.
    same_bound: bool,
    interrupted: &'a dyn Fn() -> bool,
    patience: usize,
}

impl<'a> Drawn<'a> {
    pub(super) fn new(positions: Positions, same_bound: bool, interrupted: &'a dyn Fn() -> bool) -> Self {
        let made = memory::list(PIECE);
        Self { positions, made, n: 0, used: 0, same_bound, interrupted, patience: PATIENCE }
    }

    /// Counts work towards the next question.
    pub(super) fn worked(&mut self, steps: usize) -> Result<()> {
        if let Some(left) = self.patience.checked_sub(steps) {
            self.patience = left;
            return Ok(());
        }
        self.patience = PATIENCE;
        check(self.interrupted)
    }
}

impl Source for Drawn<'_> {
    fn take(&mut self, n: usize, count: usize) -> Result<&[u32]> {
        if n != self.n || self.made.len() - self.used < count {
            // The few that are left are let go.
            let times = if self.same_bound { (PIECE / count).max(1) } else { 1 };
            self.worked(times * count)?;
            self.made.room((times * count).saturating_sub(self.made.len()));
            self.made.resize(times * count, 0);
            self.positions.fill(n, &mut self.made);
            (self.n, self.used) = (n, 0);
        }
        self.used += count;
        Ok(&self.made[self.used - count..self.used])
    }
}

/// Every position once: the samples themselves.
#[derive(Default)]
pub(super) struct InOrder {
    next: u32,
    piece: Vec<u32>,
}

impl Source for InOrder {
    fn take(&mut self, _n: usize, count: usize) -> Result<&[u32]> {
        let from = self.next;
        self.next += count as u32;
        self.piece.clear();
        self.piece.extend(from..self.next);
        Ok(&self.piece)
    }
}

/// Positions from a caller, as the ranks of the samples at these positions.
pub(super) struct Given<'a> {
    row: &'a [i64],
    ranks: &'a [u32],
    next: usize,
    piece: Vec<u32>,
}

impl<'a> Given<'a> {
    /// The positions of one resample, one for each sample.
    pub(super) fn new(row: &'a [i64], ranks: &'a [u32]) -> Result<Self> {
        if row.len() == ranks.len() {
            return Ok(Self { row, ranks, next: 0, piece: memory::list(PIECE.min(row.len())) });
        }
        Err(Error::UnequalLengths { argument: "resample", found: row.len(), other: "samples", expected: ranks.len() })
    }
}

impl Source for Given<'_> {
    fn take(&mut self, _n: usize, count: usize) -> Result<&[u32]> {
        self.piece.clear();
        for (position, &given) in self.row.iter().enumerate().skip(self.next).take(count) {
            let rank = usize::try_from(given).ok().and_then(|given| self.ranks.get(given));
            self.piece.push(*rank.ok_or(Error::ElementOutOfRange {
                argument: "resample",
                position,
                value: given as f64,
                expected: "the position of a sample, counted from 0",
            })?);
        }
        self.next += count;
        Ok(&self.piece)
    }
}
