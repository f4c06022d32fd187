//! Changes of a series.

use super::candidates::Cost;
use super::pelt::{ChangePointOptions, partition};
use crate::error::{Result, require, require_finite};
use crate::memory;
use crate::results::result;
use crate::stats::samples::{Moments, finite, median, not_negative};

result! {
    /// Result of `changepoints`.
    pub struct ChangePoints {
        /// Number of samples.
        pub count: usize,
        /// Starts of new segments, ascending, counted from 0; empty if nothing changes.
        pub positions: Vec<usize>,
        /// The segments as (begin, end), `samples[begin:end]` each; the first begins at 0, the last ends at `count`.
        pub segments: Vec<(usize, usize)>,
        /// Cost of a segment: `mean` or `mean_variance`.
        pub cost: String,
        /// Penalty of one more segment, in the unit of the cost; as requested, or the default.
        pub penalty: f64,
        /// The sum of the segments' costs and of one penalty for each change, in the unit of the cost.
        pub total_cost: f64,
        /// The fewest samples that a segment could have.
        pub min_size: usize,
        /// Segments could begin at multiples of this only.
        pub jump: usize,
        /// Variance that was added to each variance, in the unit of the samples squared; None for the cost `mean`.
        pub added_variance: Option<f64>,
        /// True if the partition has the lowest cost for certain.
        pub optimal: bool,
    }
}

/// The partition of `samples` that costs least by PELT (Killick, Fearnhead and Eckley, 2012).
///
/// # Errors
/// Fewer samples than one segment needs; a NaN or an infinity, named by position; a `min_size` or `jump` of 0; a penalty
/// or an added variance that is negative or not finite; samples so far apart that their variance overflows.
pub fn changepoints(
    samples: &[f64],
    options: &ChangePointOptions,
    interrupted: &dyn Fn() -> bool,
) -> Result<ChangePoints> {
    let ChangePointOptions { cost, jump, optimal, .. } = *options;
    for (argument, value) in [("min_size", options.min_size), ("jump", jump)] {
        require(value > 0, argument, value as f64, "1 or more")?;
    }
    if let Some(added_variance) = cost.added_variance() {
        not_negative("added_variance", added_variance)?;
    }
    if let Some(penalty) = options.penalty {
        not_negative("penalty", penalty)?;
    }
    let min_size = options.min_size.max(cost.least_size());
    finite("samples", samples, min_size)?;
    // No part deviates by more than all do: past this, nothing overflows.
    Moments::of(samples)?;
    let penalty = options.penalty.map_or_else(|| default_penalty(samples, cost, interrupted), Ok)?;

    let (ends, total) = partition(samples, ChangePointOptions { min_size, ..*options }, penalty, interrupted)?;
    let begins = std::iter::once(0).chain(ends.iter().copied());
    let segments: Vec<(usize, usize)> = memory::collected(begins.zip(ends.iter().copied()));
    let positions = memory::collected(segments.iter().skip(1).map(|&(begin, _)| begin));
    // The search charges the first segment as well.
    let total_cost = total - penalty;
    require_finite("samples", &[total_cost])?;
    Ok(ChangePoints {
        count: samples.len(),
        positions,
        segments,
        cost: cost.name().to_owned(),
        penalty,
        total_cost,
        min_size,
        jump,
        added_variance: cost.added_variance(),
        optimal,
    })
}

/// 15 ln n for mean and variance. For the mean alone 2σ² ln n (Yao, 1988: Schwarz's criterion), since there the cost has the
/// unit of the samples squared.
///
/// σ comes from the differences of neighbours, which changes of level hardly touch: the median of their sizes, or where more
/// than half of them are nought, as in coarse readings, their root mean square.
///
/// # Errors
/// No samples, a NaN or an infinity; samples so far apart that the penalty overflows; an interruption.
pub fn default_penalty(samples: &[f64], cost: Cost, interrupted: &dyn Fn() -> bool) -> Result<f64> {
    /// The median size of a difference of two normal variables with σ = 1.
    const TYPICAL: f64 = 0.953_872_552_417_489_4;
    finite("samples", samples, 1)?;
    let ln_n = (samples.len() as f64).ln();
    if let Cost::MeanVariance { .. } = cost {
        return Ok(15.0 * ln_n);
    }
    let sizes: Vec<f64> = memory::collected(samples.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
    if sizes.is_empty() {
        return Ok(0.0);
    }
    let sigma = match median("samples", &sizes, interrupted)? / TYPICAL {
        0.0 => (sizes.iter().map(|size| size * size).sum::<f64>() / (2 * sizes.len()) as f64).sqrt(),
        sigma => sigma,
    };
    let penalty = 2.0 * sigma * sigma * ln_n;
    require_finite("samples", &[penalty])?;
    Ok(penalty)
}
