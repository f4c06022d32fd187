//! The description of one set of samples that tables show and run files keep.

use super::quantiles::{Place, QuantileMethod};
use crate::error::Result;
use crate::memory;
use crate::results::result;
use crate::stats::intervals::{IntervalMethod, median_rank_interval};
use crate::stats::samples::{Sample, confidence_level as check_level, moments, order_statistics};

result! {
    /// Result of `summarize`. Every value is in the unit of the samples.
    pub struct Summary {
        /// Number of samples.
        pub count: usize,
        /// Arithmetic mean.
        pub mean: f64,
        /// Standard deviation with the divisor n - 1; None for one sample.
        pub stddev: Option<f64>,
        /// Smallest sample.
        pub min: f64,
        /// Largest sample.
        pub max: f64,
        /// Median.
        pub median: f64,
        /// First quartile.
        pub q1: f64,
        /// Third quartile.
        pub q3: f64,
        /// 95th percentile.
        pub p95: f64,
        /// 99th percentile.
        pub p99: f64,
        /// Median absolute deviation from the median, not scaled.
        pub mad: f64,
        /// Lower end of the median's interval; None where there are too few samples for the level.
        pub ci_low: Option<f64>,
        /// Upper end of the median's interval; None where there are too few samples for the level.
        pub ci_high: Option<f64>,
        /// The level that the interval was asked to hold; order statistics hold at least it.
        pub confidence_level: f64,
        /// Method of the interval: `median_rank`, from two order statistics; None without an interval.
        pub ci_method: Option<IntervalMethod>,
    }
}

/// Describes `samples` in a handful of reads, without sorting them.
///
/// Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan, 1996, as numpy does).
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; a level outside (0, 1); values whose squares overflow; an
/// interruption.
pub fn summarize<T: Sample>(samples: &[T], confidence_level: f64, interrupted: &dyn Fn() -> bool) -> Result<Summary> {
    check_level(confidence_level)?;
    let moments = moments(samples, interrupted)?;
    let n = samples.len();
    let quantiles = [0.25, 0.5, 0.75, 0.95, 0.99].map(|p| place(p, n));
    let ends = median_rank_interval(n, confidence_level);

    let mut ranks: Vec<usize> = memory::collected(quantiles.iter().flat_map(|q| [q.below, q.above]));
    ranks.extend(ends.iter().flat_map(|&(low, high)| [low, high]));
    ranks.sort_unstable();
    ranks.dedup();
    let range = (moments.min, moments.max);
    let values = order_statistics(samples, std::convert::identity, range, &ranks, interrupted)?;
    // Each rank looked up below was put in above.
    let at = |rank: usize| values[ranks.partition_point(|&other| other < rank)];

    let [q1, median, q3, p95, p99] = quantiles.map(|q| q.value(at(q.below), at(q.above)));
    Ok(Summary {
        count: n,
        mean: moments.mean,
        stddev: moments.stddev(),
        min: moments.min,
        max: moments.max,
        median,
        q1,
        q3,
        p95,
        p99,
        mad: median_distance(samples, median, range, interrupted)?,
        ci_low: ends.map(|(low, _)| at(low)),
        ci_high: ends.map(|(_, high)| at(high)),
        confidence_level,
        ci_method: ends.map(|_| IntervalMethod::MedianRank),
    })
}

fn median_distance<T: Sample>(
    samples: &[T],
    centre: f64,
    (min, max): (f64, f64),
    interrupted: &dyn Fn() -> bool,
) -> Result<f64> {
    let middle = place(0.5, samples.len());
    let range = (0.0, (centre - min).max(max - centre));
    let distance = |value: f64| (value - centre).abs();
    let ranks = [middle.below, middle.above];
    let values = order_statistics(samples, distance, range, &ranks, interrupted)?;
    Ok(middle.value(values[0], values[1]))
}

fn place(p: f64, n: usize) -> Place {
    QuantileMethod::Linear.place(p, n)
}
