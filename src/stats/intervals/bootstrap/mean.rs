//! The mean of a resample.

use super::positions::{Source, pieces};
use crate::error::Result;

/// Independent sums of one run of values.
const LANES: usize = 8;
/// Longer runs are halved.
const RUN: usize = 128;

/// Computes means of resamples of one list.
pub(super) struct Means<'a> {
    samples: &'a [f64],
}

impl<'a> Means<'a> {
    pub(super) fn new(samples: &'a [f64]) -> Self {
        Self { samples }
    }

    /// Returns the mean of as many samples as there are, at the positions of `source`.
    pub(super) fn of(&self, source: &mut impl Source) -> Result<f64> {
        let n = self.samples.len();
        let mut total = 0.0;
        for size in pieces(n) {
            total += sum(self.samples, source.take(n, size)?);
        }
        Ok(total / n as f64)
    }
}

/// The sum of the samples at `positions`, added in the order in which numpy adds a row: pairwise down to runs of 128, and those
/// in eight lanes. A resample that is the samples in another order then ties with them, or not, exactly as scipy's does.
#[inline]
fn sum(samples: &[f64], positions: &[u32]) -> f64 {
    if positions.len() > RUN {
        let half = positions.len() / 2;
        let (one, other) = positions.split_at(half - half % LANES);
        return sum(samples, one) + sum(samples, other);
    }
    let at = |&position: &u32| samples[position as usize];
    let (groups, rest) = positions.as_chunks::<LANES>();
    let Some((first, groups)) = groups.split_first() else { return rest.iter().map(at).fold(-0.0, |sum, x| sum + x) };
    let mut lanes = std::array::from_fn::<f64, LANES, _>(|lane| at(&first[lane]));
    for group in groups {
        for (lane, position) in lanes.iter_mut().zip(group) {
            *lane += at(position);
        }
    }
    let pair = |lane: usize| lanes[lane] + lanes[lane + 1];
    rest.iter().map(at).fold((pair(0) + pair(2)) + (pair(4) + pair(6)), |sum, x| sum + x)
}
