//! The interval of a mean from samples of one process.

use super::IntervalMethod;
use crate::error::Result;
use crate::results::result;
use crate::stats::samples::distributions::t_half_width;
use crate::stats::samples::{Moments, Sample, confidence_level as check_level};

result! {
    /// Result of `mean_ci`. Values are in the unit of the samples.
    pub struct MeanInterval {
        /// The arithmetic mean.
        pub estimate: f64,
        /// Lower end of its interval; None for one sample.
        pub ci_low: Option<f64>,
        /// Upper end of its interval; None for one sample.
        pub ci_high: Option<f64>,
        /// The level that the interval was asked to hold.
        pub confidence_level: f64,
        /// Method of the interval: `t`; None without an interval.
        pub ci_method: Option<IntervalMethod>,
        /// Number of samples.
        pub count: usize,
        /// Standard deviation with the divisor n - 1; None for one sample.
        pub stddev: Option<f64>,
        /// Always True: the interval does not include differences between processes.
        pub within_one_process: bool,
    }
}

/// The mean and its interval by Student's t (*The probable error of a mean*, Biometrika 6, 1908), for independent samples.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; a level outside (0, 1); values whose squares overflow.
pub fn mean_ci<T: Sample>(samples: &[T], confidence_level: f64) -> Result<MeanInterval> {
    check_level(confidence_level)?;
    let moments = Moments::of(samples)?;
    let n = moments.count as f64;
    let stddev = moments.stddev();
    let half = stddev.map(|stddev| t_half_width(confidence_level, n - 1.0) * stddev / n.sqrt());
    let ci = half.map(|half| (moments.mean - half, moments.mean + half));
    Ok(MeanInterval {
        estimate: moments.mean,
        ci_low: ci.map(|(low, _)| low),
        ci_high: ci.map(|(_, high)| high),
        confidence_level,
        ci_method: ci.map(|_| IntervalMethod::T),
        count: moments.count,
        stddev,
        within_one_process: true,
    })
}
