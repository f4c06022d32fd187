//! The median of a resample, by counting how often each rank is drawn: nothing is sorted again.

use super::positions::{Source, pieces};
use crate::error::Result;
use crate::memory;

/// Number of counts in a group, whose sum is vector code.
const GROUP: usize = 16;

/// Computes medians of resamples of one sorted list.
pub(super) struct Medians<'a> {
    sorted: &'a [f64],
    counts: Counts,
}

impl<'a> Medians<'a> {
    pub(super) fn new(sorted: &'a [f64]) -> Self {
        Self { sorted, counts: Counts::new(sorted.len()) }
    }

    /// The median of as many samples as there are, at the ranks that `source` names.
    pub(super) fn of(&mut self, source: &mut impl Source) -> Result<f64> {
        let n = self.sorted.len();
        for size in pieces(n) {
            self.counts.add(source.take(n, size)?);
        }
        Ok(self.counts.take_median(self.sorted))
    }
}

/// Number of times that each rank has been drawn.
pub(super) struct Counts(Vec<u32>);

impl Counts {
    pub(super) fn new(n: usize) -> Self {
        Self(memory::filled(0, n))
    }

    /// Counts `ranks`.
    #[inline]
    pub(super) fn add(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            self.0[rank as usize] += 1;
        }
    }

    /// Returns the median of the counted samples, as many as there are values in `sorted`; the counts start again from 0.
    pub(super) fn take_median(&mut self, sorted: &[f64]) -> f64 {
        let n = sorted.len();
        let (lower, before) = self.rank_of((n - 1) / 2);
        // The upper one of the middle two is the same value if that was drawn often enough, else the next that was drawn.
        let upper = if before + self.0[lower] as usize > n / 2 {
            lower
        } else {
            lower + 1 + self.0[lower + 1..].iter().position(|&count| count > 0).unwrap_or(0)
        };
        self.0.fill(0);
        middle(sorted[lower], sorted[upper])
    }

    /// The rank of the value that has `place` drawn values before it, and how many of lower rank were drawn.
    fn rank_of(&self, place: usize) -> (usize, usize) {
        let (mut rank, mut before) = (0, 0);
        for group in self.0.chunks(GROUP) {
            let count = group.iter().sum::<u32>() as usize;
            if before + count > place {
                break;
            }
            before += count;
            rank += group.len();
        }
        while before + self.0[rank] as usize <= place {
            before += self.0[rank] as usize;
            rank += 1;
        }
        (rank, before)
    }
}

/// Returns the mean of two values whose sum is finite, rounded as numpy rounds it.
pub(super) fn middle(one: f64, other: f64) -> f64 {
    f64::midpoint(one, other)
}

/// Returns the median of sorted values.
pub(super) fn median_of(sorted: &[f64]) -> f64 {
    middle(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}
