//! Mean, variance and extremes in one pass over memory.
//!
//! Blocks small enough for the first-level cache are read twice (the sum, then the squared deviations from the block's
//! own mean) and merged by the pairwise update of Chan, Golub and LeVeque (1983). That is as exact as two passes over
//! everything and costs one pass of bandwidth.

use super::Sample;
use crate::error::{Error, Result};

/// 16 KiB of `f64`: two of these fit beside everything else in a first-level cache of 32 KiB.
const BLOCK: usize = 2048;
/// Independent accumulators, so that additions need not wait for one another and the compiler can use vectors.
const LANES: usize = 8;

/// Count, mean, sum of squared deviations and extremes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    pub(super) count: usize,
    pub(super) mean: f64,
    pub(super) squared_deviations: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Moments {
    /// The moments of `samples`; refuses an empty slice, NaN and infinities by position.
    pub(super) fn of<T: Sample>(samples: &[T]) -> Result<Self> {
        const ARGUMENT: &str = "samples";
        let mut blocks = samples.chunks(BLOCK);
        let first = blocks.next().ok_or(Error::Empty { argument: ARGUMENT })?;
        let all = blocks.fold(Self::of_block(first), |all, block| all.merge(Self::of_block(block)));
        // A NaN or an infinity anywhere ends up in the mean, so the ordinary case pays for no check of its own.
        if all.mean.is_finite() && all.squared_deviations.is_finite() {
            return Ok(all);
        }
        let offender = samples.iter().map(|sample| sample.value()).enumerate().find(|(_, value)| !value.is_finite());
        Err(match offender {
            Some((position, value)) => Error::NotFinite { argument: ARGUMENT, position, value },
            None => Error::Overflow { argument: ARGUMENT },
        })
    }

    /// With the divisor n − 1; `None` for a single value.
    pub(super) fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squared_deviations / (self.count - 1) as f64)
    }

    fn of_block<T: Sample>(block: &[T]) -> Self {
        // Converted once: the loops below read it four times.
        let mut converted = [0.0; BLOCK];
        let values = &mut converted[..block.len()];
        values.iter_mut().zip(block).for_each(|(value, sample)| *value = sample.value());
        let (min, max) = extremes(values);
        // Summing distances from one of the values keeps the digits of samples that are large and close together.
        let origin = values[0];
        let mean = origin + sum(values, |value| value - origin) / values.len() as f64;
        let squared_deviations = sum(values, |value| (value - mean) * (value - mean));
        Self { count: values.len(), mean, squared_deviations, min, max }
    }

    fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        let share = other.count as f64 / count as f64;
        let apart = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + apart * share,
            squared_deviations: self.squared_deviations
                + other.squared_deviations
                + apart * apart * self.count as f64 * share,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

#[inline]
fn sum(block: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (groups, rest) = block.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for group in groups {
        for (lane, value) in lanes.iter_mut().zip(group) {
            *lane += term(*value);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|value| term(*value)).sum::<f64>()
}

#[inline]
fn extremes(block: &[f64]) -> (f64, f64) {
    let (groups, rest) = block.as_chunks::<LANES>();
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for group in groups {
        for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(group) {
            // Not `f64::min`, whose care for NaN costs an instruction: a NaN is found through the mean.
            *low = if value < *low { value } else { *low };
            *high = if value > *high { value } else { *high };
        }
    }
    let rest = rest.iter().copied();
    (rest.clone().chain(low).fold(f64::INFINITY, f64::min), rest.chain(high).fold(f64::NEG_INFINITY, f64::max))
}
