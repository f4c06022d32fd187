//! Request and result of a bootstrap interval.

use super::limits::Distribution;
use super::{Resampling, Statistic};
use crate::error::{Result, require, require_finite, words};
use crate::results::result;
use crate::stats::samples::Moments;
use crate::stats::samples::random::Positions;

words! {
    /// Method of an interval.
    pub enum Method {
        /// Quantiles of the resampled statistics.
        Percentile = "percentile",
        /// Quantiles at levels corrected for bias and skewness.
        Bca = "bca",
        /// Quantiles of the distribution of the resampled medians, without resampling.
        Exact = "exact",
        /// Resamples of blocks of neighbours.
        Block = "block",
        /// Resamples of processes, then of their samples.
        Hierarchical = "hierarchical",
    }
}

/// Request for an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// Statistic of each resample.
    pub statistic: Statistic,
    /// Method of the interval.
    pub method: Method,
    /// The level that the interval is to hold, between 0 and 1.
    pub confidence_level: f64,
    /// Options of resampling.
    pub resampling: Resampling,
    /// Number of neighbours that stay together, for [`Method::Block`] only; `None` for [`super::automatic_block_length`].
    pub block_length: Option<usize>,
}

result! {
    /// Result of `bootstrap_ci`. Values are in the unit of the samples.
    pub struct BootstrapInterval {
        /// The statistic of the samples themselves.
        pub estimate: f64,
        /// Lower end of the interval.
        pub ci_low: f64,
        /// Upper end of the interval.
        pub ci_high: f64,
        /// The level that the interval was asked to hold.
        pub confidence_level: f64,
        /// Name of the method.
        pub ci_method: Method,
        /// Name of the statistic.
        pub statistic: Statistic,
        /// Standard deviation of the resampled statistics, with the divisor B - 1; that of their distribution for `exact`. None
        /// for one resample.
        pub standard_error: Option<f64>,
        /// Number of samples, of all processes together.
        pub count: usize,
        /// Number of processes; None except for `hierarchical`.
        pub n_processes: Option<usize>,
        /// Number of resamples; None for `exact`, which stands for infinitely many.
        pub resamples: Option<usize>,
        /// Seed of the random numbers; None if no random numbers were used.
        pub seed: Option<u64>,
        /// Bias correction z0, in standard deviations of a normal distribution; None except for `bca`.
        pub bias_correction: Option<f64>,
        /// The acceleration, a pure number; None but for `bca`.
        pub acceleration: Option<f64>,
        /// Number of neighbours that stayed together; None except for `block`.
        pub block_length: Option<usize>,
        /// True if the samples count as those of one process, so that the interval does not cover differences between
        /// processes: false only for `hierarchical`.
        pub within_one_process: bool,
    }
}

impl BootstrapInterval {
    /// The point that `estimate` is, so far.
    pub(super) fn at(estimate: f64, n: usize, request: &Request) -> Self {
        Self {
            estimate,
            ci_low: estimate,
            ci_high: estimate,
            confidence_level: request.confidence_level,
            ci_method: request.method,
            statistic: request.statistic,
            standard_error: None,
            count: n,
            n_processes: None,
            resamples: Some(request.resampling.resamples),
            seed: Some(request.resampling.seed),
            bias_correction: None,
            acceleration: None,
            block_length: None,
            within_one_process: request.method != Method::Hierarchical,
        }
    }

    /// The same inside the samples' extremes, which rounding may leave by a digit: equal samples have no width.
    pub(super) fn within(self, (min, max): (f64, f64)) -> Self {
        let standard_error = self.standard_error.map(|error| if min < max { error } else { 0.0 });
        let inside = |value: f64| value.clamp(min, max);
        let (estimate, ci_low, ci_high) = (inside(self.estimate), inside(self.ci_low), inside(self.ci_high));
        Self { estimate, ci_low, ci_high, standard_error, ..self }
    }

    /// Makes the interval with ends at two levels of the resampled statistics.
    pub(super) fn between(
        self,
        distribution: &Distribution,
        levels: (f64, f64),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let (ci_low, ci_high) = distribution.quantiles(levels, interrupted)?;
        Ok(Self { ci_low, ci_high, standard_error: distribution.standard_error()?, ..self })
    }
}

/// The moments of samples that can be summed: sound ones, so small that no resample overflows, and not too many to be named.
pub(super) fn summable(samples: &[f64]) -> Result<Moments> {
    let moments = Moments::of(samples)?;
    let largest = moments.max.abs().max(moments.min.abs());
    let n = samples.len();
    require_finite("samples", &[largest * (n + 1) as f64])?;
    require(n <= Positions::MOST, "the number of samples", n as f64, "below 2^32")?;
    Ok(moments)
}
