//! Levels corrected for bias and skewness: `BCa` (Efron, *Better bootstrap confidence intervals*, 1987; Efron and Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, section 14.3).

use super::Statistic;
use super::limits::Distribution;
use super::median::middle;
use crate::stats::samples::distributions::{normal_cdf, normal_quantile};

/// Correction of the levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Correction {
    /// z₀: distance of the point estimate from the middle of the resampled ones, in standard deviations of a normal
    /// distribution.
    pub(super) bias: f64,
    /// a: how fast the standard error changes with the estimate.
    pub(super) acceleration: f64,
}

impl Correction {
    /// The correction of `estimate`; `sorted` are the samples.
    pub(super) fn of(distribution: &Distribution, estimate: f64, statistic: Statistic, sorted: &[f64]) -> Self {
        // An estimate beyond all resampled ones would lie infinitely far out: it counts as half a resample from the end.
        let least = 0.5 / distribution.len() as f64;
        let share = distribution.share_below(estimate).clamp(least, 1.0 - least);
        let acceleration = match statistic {
            Statistic::Mean => mean_acceleration(sorted),
            Statistic::Median => median_acceleration(sorted),
        };
        Self { bias: normal_quantile(share), acceleration }
    }

    /// The levels to take in place of `tail` and of 1 - `tail`.
    pub(super) fn levels(self, tail: f64) -> (f64, f64) {
        let z = normal_quantile(tail);
        (self.level(z), self.level(-z))
    }

    fn level(self, z: f64) -> f64 {
        let shifted = self.bias + z;
        let slowed = 1.0 - self.acceleration * shifted;
        // Beyond the pole the formula would come back from the other side.
        if slowed > 0.0 { normal_cdf(self.bias + shifted / slowed) } else { f64::from(u8::from(shifted > 0.0)) }
    }
}

/// The mean without sample i is (n·mean − xᵢ)/(n − 1): the distances of these from their mean are those of the samples, but for
/// a factor that cancels.
fn mean_acceleration(sorted: &[f64]) -> f64 {
    // From one of them, so that samples that are large and close together keep their digits.
    let origin = sorted[sorted.len() / 2];
    let mean = sorted.iter().map(|sample| sample - origin).sum::<f64>() / sorted.len() as f64;
    acceleration(sorted.iter().map(|sample| (sample - origin - mean, 1.0)))
}

/// Without one sample the median is one of three values at most, whichever sample it is.
fn median_acceleration(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n < 2 {
        return 0.0;
    }
    let at = n / 2;
    let half = at as f64;
    let left_out = if n.is_multiple_of(2) {
        vec![(sorted[at - 1], half), (sorted[at], half)]
    } else {
        let [below, itself, above] = [sorted[at - 1], sorted[at], sorted[at + 1]];
        vec![(middle(itself, above), half), (middle(below, above), 1.0), (middle(below, itself), half)]
    };
    let origin = left_out[0].0;
    let mean = left_out.iter().map(|(median, times)| (median - origin) * (times / n as f64)).sum::<f64>();
    acceleration(left_out.into_iter().map(|(median, times)| (mean - (median - origin), times)))
}

/// Σd³ / (6 (Σd²)^{3/2}) of distances that occur so many times; 0 where none differs from 0.
fn acceleration(distances: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let largest = distances.clone().map(|(distance, _)| distance.abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    // In units of the largest, so that no power of a distance overflows or vanishes.
    let (squares, cubes) = distances.fold((0.0, 0.0), |(squares, cubes), (distance, times)| {
        let distance = distance / largest;
        (squares + times * distance * distance, cubes + times * distance * distance * distance)
    });
    cubes / (6.0 * squares * squares.sqrt())
}
