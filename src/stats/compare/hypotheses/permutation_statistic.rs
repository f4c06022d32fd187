//! Statistics of a permutation test: the distance between the two sides of a division of the pool.
#![allow(clippy::inline_always, reason = "compiled for the processor with the loop that calls it")]

use super::permutation_divisions::WORD;
use super::ranks::sorted_sides;
use crate::error::Result;
use crate::memory::{self, Room as _};

/// Values that are added side by side, so that additions need not wait for one another and the compiler can use vectors.
const LANES: usize = 8;

/// Distance of the two sides, in a unit of the statistic.
pub(super) trait Distance: Sync {
    /// Returns the distance between the values whose bits are set and the others.
    fn of(&self, bits: &[u64]) -> f64;

    /// Largest rounding error of equal distances.
    fn tolerance(&self) -> f64;
}

/// Both sides' values, moved and scaled so that no sum of them overflows.
#[derive(Debug)]
pub(super) struct Pool {
    /// Those of the smaller side first.
    values: Vec<f64>,
    small: usize,
    /// Power of two that converts this unit to that of the samples.
    exponent: i32,
    /// True if the smaller side is the candidate's.
    small_is_candidate: bool,
}

impl Pool {
    /// `baseline` and `candidate` hold finite values, at least one each.
    pub(super) fn of(baseline: &[f64], candidate: &[f64]) -> Self {
        let small_is_candidate = candidate.len() <= baseline.len();
        let (small, large) = if small_is_candidate { (candidate, baseline) } else { (baseline, candidate) };
        let largest = small.iter().chain(large).fold(0.0_f64, |largest, value| largest.max(value.abs()));
        // A power of two scales without rounding, and distances from one of the values have the digits they differ in.
        let exponent = (largest.to_bits() >> 52) as i32 - 1023;
        let origin = scaled(small[0], -exponent);
        let values = memory::collected(small.iter().chain(large).map(|&value| scaled(value, -exponent) - origin));
        Self { values, small: small.len(), exponent, small_is_candidate }
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the number of values of the smaller side.
    pub(super) fn small(&self) -> usize {
        self.small
    }

    /// A difference of the smaller side less the other one, as the candidate less the baseline in the unit of the samples.
    pub(super) fn difference(&self, small_less_large: f64) -> f64 {
        scaled(if self.small_is_candidate { small_less_large } else { -small_less_large }, self.exponent) + 0.0
    }
}

/// `value` times two to the power `exponent`; in two steps, because that power itself may be too large.
fn scaled(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

/// The distance of means, from the sum over the smaller side.
#[derive(Debug)]
pub(super) struct Means {
    /// Distances from the mean of all, so that the two sums are each other's negative; zeros fill the last word up.
    values: Vec<f64>,
    /// Rounding error of the sum of all values.
    rest: f64,
    tolerance: f64,
    small: f64,
    large: f64,
}

impl Means {
    pub(super) fn of(pool: &Pool) -> Self {
        let n = pool.len() as f64;
        let mean = pool.values.iter().sum::<f64>() / n;
        let mut values: Vec<f64> = memory::collected(pool.values.iter().map(|value| value - mean));
        values.room(WORD);
        values.resize(pool.len().next_multiple_of(WORD), 0.0);
        let small = pool.small() as f64;
        // Each addition rounds by less than this share of what has been added so far.
        let spread: f64 = values.iter().map(|value| value.abs()).sum();
        let tolerance = 64.0 * f64::EPSILON * spread;
        Self { rest: values.iter().sum(), values, tolerance, small, large: n - small }
    }

    /// The mean of the smaller side less that of the other.
    pub(super) fn difference(&self, pool: &Pool) -> f64 {
        let sum = self.values[..pool.small].iter().sum::<f64>();
        sum / self.small - (self.rest - sum) / self.large
    }
}

impl Distance for Means {
    #[inline(always)]
    fn of(&self, bits: &[u64]) -> f64 {
        let mut sums = [0.0; LANES];
        for (word, values) in bits.iter().zip(self.values.as_chunks::<WORD>().0) {
            for (group, values) in values.as_chunks::<LANES>().0.iter().enumerate() {
                let byte = word >> (group * LANES);
                for lane in 0..LANES {
                    // All bits of the value or none: its sum is over what is set, without a branch.
                    let kept = ((byte >> lane) & 1).wrapping_neg();
                    sums[lane] += f64::from_bits(values[lane].to_bits() & kept);
                }
            }
        }
        let sum: f64 = sums.iter().sum();
        // The difference of means is this sum times a constant, but for what rounding left.
        (sum - self.rest * self.small / (self.small + self.large)).abs()
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }
}

/// The distance of medians, over values in ascending order.
#[derive(Debug)]
pub(super) struct Medians {
    values: Vec<f64>,
    small: usize,
    tolerance: f64,
}

impl Medians {
    /// With the bits of the division that was observed.
    pub(super) fn of(pool: &Pool, interrupted: &dyn Fn() -> bool) -> Result<(Self, Vec<u64>)> {
        let (small, large) = pool.values.split_at(pool.small);
        let (small, large) = sorted_sides(small, large, interrupted)?;
        let mut bits = memory::filled(0, pool.len().div_ceil(WORD));
        let mut values = memory::list(pool.len());
        let mut large = large.into_iter().peekable();
        for value in small {
            values.extend(std::iter::from_fn(|| large.next_if(|&other| other < value)));
            bits[values.len() / WORD] |= 1 << (values.len() % WORD);
            values.push(value);
        }
        values.extend(large);
        let furthest = values.iter().fold(0.0_f64, |furthest, value| furthest.max(value.abs()));
        Ok((Self { values, small: pool.small, tolerance: 4.0 * f64::EPSILON * furthest }, bits))
    }

    /// Returns the median of the values whose bits are set less that of the others.
    #[inline(always)]
    pub(super) fn difference(&self, bits: &[u64]) -> f64 {
        let large = self.values.len() - self.small;
        self.middle(bits.iter().copied(), self.small) - self.middle(bits.iter().map(|word| !word), large)
    }

    /// Returns the median of the `count` values whose bits are set.
    #[inline(always)]
    fn middle(&self, mut words: impl Iterator<Item = u64>, count: usize) -> f64 {
        let (mut left, mut start, mut word) = ((count - 1) / 2, 0, words.next().unwrap_or(0));
        while left >= word.count_ones() as usize {
            left -= word.count_ones() as usize;
            start += WORD;
            word = words.next().unwrap_or(u64::MAX);
        }
        let first = |word: u64| word.trailing_zeros() as usize;
        (0..left).for_each(|_| word &= word - 1);
        let below = self.values[start + first(word)];
        if !count.is_multiple_of(2) {
            return below;
        }
        word &= word - 1;
        while word == 0 {
            start += WORD;
            word = words.next().unwrap_or(u64::MAX);
        }
        below.midpoint(self.values[start + first(word)])
    }
}

impl Distance for Medians {
    #[inline(always)]
    fn of(&self, bits: &[u64]) -> f64 {
        self.difference(bits).abs()
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }
}
