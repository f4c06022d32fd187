//! The empirical distribution function: a step at each distinct value.

use crate::memory;

/// Distinct values, ascending, and how many samples lie below each and up to it.
#[derive(Debug)]
pub(super) struct Steps {
    /// Positions of the steps.
    pub(super) at: Vec<f64>,
    /// Number of samples that are at most as large as each step; a 0 precedes them.
    counts: Vec<usize>,
}

impl Steps {
    /// The steps of ascending values, at least one.
    #[allow(clippy::float_cmp, reason = "samples are tied where they are equal")]
    pub(super) fn of(sorted: &[f64]) -> Self {
        let (mut at, mut counts) = (memory::list(sorted.len()), memory::list(sorted.len() + 1));
        counts.push(0);
        for (position, &value) in sorted.iter().enumerate() {
            if at.last() == Some(&value) {
                counts.pop();
            } else {
                at.push(value);
            }
            counts.push(position + 1);
        }
        Self { at, counts }
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.at.len()
    }

    /// Returns the number of samples.
    pub(super) fn samples(&self) -> usize {
        self.counts[self.len()]
    }

    /// Returns the number of samples below step `i`.
    pub(super) fn below(&self, i: usize) -> usize {
        self.counts[i]
    }

    /// Returns the number of samples at step `i` or below.
    pub(super) fn up_to(&self, i: usize) -> usize {
        self.counts[i + 1]
    }
}
