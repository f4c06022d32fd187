//! Places where a last segment may begin, with the numbers for its cost.
//!
//! Each keeps the mean and the squared deviations of the values since it, brought up to date value by value (Welford, 1962),
//! the mean as a distance from the first of them, since those of large values close together are exact. Differences of prefix
//! sums would cost as little, but lose the digits of a quiet segment behind a loud one; this way a segment's cost depends on
//! its own values only. One array a quantity, so that the loops run in vectors.
#![allow(clippy::inline_always, reason = "loops are compiled for several sets of instructions, with what they call")]

use super::logarithm::ln;
use crate::memory::Room as _;
use crate::simd::{Kernel, vectorised};

/// Independent minima, so that comparisons need not wait for one another.
const LANES: usize = 8;

/// Cost of a segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    /// Squared deviations from the segment's mean, in the unit of the samples squared: finds changes of the mean.
    Mean,
    /// n ln(variance + `added_variance`), twice the negative logarithm of the normal likelihood but for a constant: finds
    /// changes of mean, variance or both.
    MeanVariance {
        /// Variance that keeps the logarithm of a constant segment finite, in the unit of the samples squared.
        added_variance: f64,
    },
}

impl Cost {
    /// Below this the variance is taken to be this much, so that even nothing added to a constant has a logarithm.
    const LEAST_VARIANCE: f64 = f64::MIN_POSITIVE;

    /// The name that documents carry.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::MeanVariance { .. } => "mean_variance",
        }
    }

    /// Returns the variance that is added to each variance, if any.
    pub(super) fn added_variance(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::MeanVariance { added_variance } => Some(added_variance),
        }
    }

    /// The fewest values that have such a cost.
    pub(super) fn least_size(self) -> usize {
        match self {
            Self::Mean => 1,
            Self::MeanVariance { .. } => 2,
        }
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Candidates {
    begin: Vec<usize>,
    /// Lowest cost of everything before it.
    before: Vec<f64>,
    length: Vec<f64>,
    /// The first value.
    origin: Vec<f64>,
    /// Distance of the mean above it.
    mean: Vec<f64>,
    deviations: Vec<f64>,
    total: Vec<f64>,
    /// Place where its cost was first too high; `usize::MAX` if nowhere.
    dear_at: Vec<usize>,
}

impl Candidates {
    pub(super) fn len(&self) -> usize {
        self.begin.len()
    }

    /// Adds a place, whose segment so far is `values`, at least one of them.
    pub(super) fn push(&mut self, begin: usize, before: f64, values: &[f64]) {
        let origin = values[0];
        let (mut length, mut mean, mut deviations) = (0.0, 0.0, 0.0);
        for &value in values {
            step(value - origin, &mut length, &mut mean, &mut deviations);
        }
        self.begin.put(begin);
        self.before.put(before);
        self.length.put(length);
        self.origin.put(origin);
        self.mean.put(mean);
        self.deviations.put(deviations);
        self.total.put(0.0);
        self.dear_at.put(usize::MAX);
    }

    /// Takes the next value into every candidate's segment.
    pub(super) fn extend(&mut self, value: f64) {
        let Self { length, origin, mean, deviations, .. } = self;
        vectorised(Extend { value, length, origin, mean, deviations });
    }

    /// The least cost of everything up to here and the first candidate that has it.
    pub(super) fn cheapest(&mut self, cost: Cost) -> (f64, usize) {
        let Self { before, length, deviations, total, .. } = self;
        let least = match cost {
            Cost::Mean => vectorised(AddUp { before, length, deviations, total, cost: |_, deviations| deviations }),
            Cost::MeanVariance { added_variance } => {
                let cost = |length: f64, deviations: f64| {
                    let variance = deviations / length + added_variance;
                    length * ln(if variance > Cost::LEAST_VARIANCE { variance } else { Cost::LEAST_VARIANCE })
                };
                vectorised(AddUp { before, length, deviations, total, cost })
            }
        };
        let first = self.total.iter().position(|&total| total <= least).unwrap_or(0);
        (least, self.begin[first])
    }

    /// Drops those that cost more than `limit` at `end`, each `patience` later.
    pub(super) fn prune(&mut self, limit: f64, end: usize, patience: usize) {
        if !vectorised(AnyAbove { total: &self.total, limit }) {
            return;
        }
        let mut kept = 0;
        for index in 0..self.len() {
            if self.total[index] > limit {
                self.dear_at[index] = self.dear_at[index].min(end);
            }
            if end.saturating_sub(patience) < self.dear_at[index] {
                self.copy(index, kept);
                kept += 1;
            }
        }
        self.begin.truncate(kept);
        self.dear_at.truncate(kept);
        let Self { before, length, origin, mean, deviations, total, .. } = self;
        for array in [before, length, origin, mean, deviations, total] {
            array.truncate(kept);
        }
    }

    fn copy(&mut self, from: usize, to: usize) {
        self.begin[to] = self.begin[from];
        self.dear_at[to] = self.dear_at[from];
        let Self { before, length, origin, mean, deviations, total, .. } = self;
        for array in [before, length, origin, mean, deviations, total] {
            array[to] = array[from];
        }
    }
}

#[inline(always)]
fn step(distance: f64, length: &mut f64, mean: &mut f64, deviations: &mut f64) {
    *length += 1.0;
    let apart = distance - *mean;
    *mean += apart / *length;
    *deviations += apart * (distance - *mean);
}

struct Extend<'a> {
    value: f64,
    length: &'a mut [f64],
    origin: &'a [f64],
    mean: &'a mut [f64],
    deviations: &'a mut [f64],
}

impl Kernel for Extend<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let segments = self.origin.iter().zip(self.length).zip(self.mean).zip(self.deviations);
        for (((origin, length), mean), deviations) in segments {
            step(self.value - origin, length, mean, deviations);
        }
    }
}

struct AddUp<'a, C> {
    before: &'a [f64],
    length: &'a [f64],
    deviations: &'a [f64],
    total: &'a mut [f64],
    cost: C,
}

impl<C: Fn(f64, f64) -> f64> Kernel for AddUp<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let segments = self.before.iter().zip(self.length).zip(self.deviations);
        for (total, ((before, &length), &deviations)) in self.total.iter_mut().zip(segments) {
            *total = before + (self.cost)(length, deviations);
        }
        let (groups, rest) = self.total.as_chunks::<LANES>();
        let mut least = [f64::INFINITY; LANES];
        for group in groups {
            for (least, &total) in least.iter_mut().zip(group) {
                *least = if total < *least { total } else { *least };
            }
        }
        least.iter().chain(rest).fold(f64::INFINITY, |least, &total| least.min(total))
    }
}

struct AnyAbove<'a> {
    total: &'a [f64],
    limit: f64,
}

impl Kernel for AnyAbove<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // Counted, since `any` would stop early and so have no vectors.
        self.total.iter().map(|&total| u64::from(total > self.limit)).sum::<u64>() > 0
    }
}
