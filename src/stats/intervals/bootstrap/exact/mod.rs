//! The bootstrap of the median with infinitely many resamples: its distribution is known, so nothing is drawn.
//!
//! A resample is n ranks drawn at random. The k-th smallest of n uniform numbers has the beta distribution with k and n − k +
//! 1, and the rank is that number times n, rounded down (Efron, *Bootstrap methods: another look at the jackknife*, 1979,
//! section 3; Maritz and Jarrett, *A note on estimating the variance of the sample median*, 1978). With an even n = 2m the
//! median is the mean of the samples at two ranks I ≤ J, for which, since m draws then are at most i and the others beyond j,
//! P(I ≤ i, J > j) = C(n, m) ((i + 1)/n)^m (1 − (j + 1)/n)^m where i ≤ j.

mod quadrature;
mod rank_distribution;

use super::median::middle;
use super::request::{BootstrapInterval, Request};
use crate::error::Result;
use crate::memory;
use crate::stats::samples::order_statistics;
use rank_distribution::RankDistribution;

/// The interval of the median of `samples`, which lie in `range`; ends leave `tail` beyond each.
///
/// The lower end is the smallest value that the resampled median does not exceed with probability `tail` or more; the upper one
/// is the same from above.
pub(super) fn interval(
    samples: &[f64],
    range: (f64, f64),
    tail: f64,
    request: &Request,
    interrupted: &dyn Fn() -> bool,
) -> Result<BootstrapInterval> {
    let n = samples.len();
    let distribution = RankDistribution::of(n);
    let ranks: Vec<usize> = memory::collected(distribution.ranks());
    let rising = order_statistics(samples, std::convert::identity, range, &ranks, interrupted)?;
    // The distribution is the same seen from above.
    let falling: Vec<f64> = memory::collected(rising.iter().rev().map(|value| -value));
    let (below, above) = ((rising.len() - 1) / 2, rising.len() / 2);
    Ok(BootstrapInterval {
        ci_low: distribution.quantile(&rising, tail),
        ci_high: -distribution.quantile(&falling, tail),
        standard_error: Some(distribution.standard_deviation(&rising)),
        resamples: None,
        seed: None,
        ..BootstrapInterval::at(middle(rising[below], rising[above]), n, request)
    })
}
