//! The interval of one set of samples.

use super::bias::Correction;
use super::limits::Distribution;
use super::{Resampling, Statistic, block, exact, resample};
use crate::error::{Error, Result, require, require_finite, words};
use crate::results::result;
use crate::stats::samples::random::Positions;
use crate::stats::samples::{Moments, check, confidence_level as check_level, sorted};

words! {
    /// How the interval is made of the resamples.
    pub enum Method {
        /// Quantiles of the resampled statistics.
        Percentile = "percentile",
        /// Quantiles at levels corrected for bias and skewness.
        Bca = "bca",
        /// Quantiles of the law that the resampled medians have, without resampling.
        Exact = "exact",
        /// Resamples of blocks of neighbours.
        Block = "block",
        /// Resamples of processes, then of their samples.
        Hierarchical = "hierarchical",
    }
}

/// How an interval is to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// What is computed from each resample.
    pub statistic: Statistic,
    /// How the interval is made of them.
    pub method: Method,
    /// The level that the interval is to hold, between 0 and 1.
    pub confidence_level: f64,
    /// How samples are drawn again.
    pub resampling: Resampling,
    /// How many neighbours stay together, for [`Method::Block`] only; `None` for [`super::automatic_block_length`].
    pub block_length: Option<usize>,
}

result! {
    /// What `bootstrap_ci` returns. Values are in the unit of the samples.
    pub struct BootstrapInterval {
        /// The statistic of the samples themselves.
        pub estimate: f64,
        /// Lower end of the interval.
        pub ci_low: f64,
        /// Upper end of the interval.
        pub ci_high: f64,
        /// The level that the interval was asked to hold.
        pub confidence_level: f64,
        /// How the interval was made: the method's name.
        pub ci_method: Method,
        /// What was computed from each resample: the statistic's name.
        pub statistic: Statistic,
        /// Standard deviation of the resampled statistics, with the divisor B - 1; that of their law for `exact`. None for one
        /// resample.
        pub standard_error: Option<f64>,
        /// How many samples, of all processes together.
        pub count: usize,
        /// How many processes; None but for `hierarchical`.
        pub n_processes: Option<usize>,
        /// How many resamples; None for `exact`, which stands for infinitely many.
        pub resamples: Option<usize>,
        /// Where the random numbers started; None where there were none.
        pub seed: Option<u64>,
        /// The bias correction z0, in standard deviations of a normal law; None but for `bca`.
        pub bias_correction: Option<f64>,
        /// The acceleration, a pure number; None but for `bca`.
        pub acceleration: Option<f64>,
        /// How many neighbours stayed together; None but for `block`.
        pub block_length: Option<usize>,
        /// Whether the samples are taken as those of one process, so that the interval says nothing about the differences
        /// between processes: True but for `hierarchical`.
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

    /// The same with ends at two levels of what was resampled.
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

/// The interval of the mean or the median of `samples` by resampling.
///
/// - [`Method::Percentile`]: quantiles of the resampled statistics (Efron, *Bootstrap methods*, 1979).
/// - [`Method::Bca`]: the same at corrected levels (Efron, 1987). Where all resampled statistics lie on one side of the estimate,
///   z₀ is that of half a resample on the other; a is 0 where leaving a sample out changes nothing.
/// - [`Method::Exact`], of the median: what percentiles tend to with ever more resamples (Efron, 1979, section 3; Maritz and
///   Jarrett, 1978, for the standard error). Nothing is drawn.
/// - [`Method::Block`]: circular blocks (Politis and Romano, 1992), the last one cut to make up as many samples as there are.
///
/// `indices` are the positions of the samples of each resample, to repeat what another program drew; those two methods only.
/// Samples that are all equal have the interval that they are. But for blocks and indices, their order does not matter.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; values whose sum or squares overflow; an argument out of its range, or
/// one that the method does not have; an index that is no position, or a resample of another length, named by position;
/// [`Error::Interrupted`], if `interrupted` says so.
pub fn bootstrap_ci(
    samples: &[f64],
    request: &Request,
    indices: Option<&[&[i64]]>,
    interrupted: &dyn Fn() -> bool,
) -> Result<BootstrapInterval> {
    let Request { statistic, method, resampling, .. } = *request;
    check_request(request, indices.is_some())?;
    if indices.is_some_and(<[_]>::is_empty) {
        return Err(Error::Empty { argument: "indices" });
    }
    let moments = summable(samples)?;
    let (n, range) = (samples.len(), (moments.min, moments.max));
    let tail = (1.0 - request.confidence_level) / 2.0;
    let plain = (tail, 1.0 - tail);
    if method == Method::Exact {
        return exact::interval(samples, range, tail, request, interrupted);
    }
    check(interrupted)?;
    let in_order = sorted(samples.to_vec(), interrupted)?;
    let ranks = || block::ranks(samples, &in_order, interrupted);
    if method == Method::Block {
        let length = block::length(samples, request, interrupted)?;
        let (estimate, statistics) =
            block::statistics(samples, (&in_order, &ranks), (statistic, length), resampling, interrupted)?;
        let found =
            BootstrapInterval::at(estimate, n, request).between(&Distribution::new(statistics)?, plain, interrupted)?;
        return Ok(BootstrapInterval { block_length: Some(length), ..found }.within(range));
    }
    let (estimate, statistics) = match indices {
        Some(rows) => resample::given(statistic, (&in_order, &ranks()?), rows, resampling.threads, interrupted)?,
        None => resample::drawn(statistic, &in_order, resampling, interrupted)?,
    };
    let mut found = BootstrapInterval::at(estimate, n, request);
    if let Some(rows) = indices {
        (found.resamples, found.seed) = (Some(rows.len()), None);
    }
    let distribution = Distribution::new(statistics)?;
    if method == Method::Percentile {
        return Ok(found.between(&distribution, plain, interrupted)?.within(range));
    }
    let correction = Correction::of(&distribution, estimate, statistic, &in_order);
    let found = found.between(&distribution, correction.levels(tail), interrupted)?;
    let (bias_correction, acceleration) = (Some(correction.bias), Some(correction.acceleration));
    Ok(BootstrapInterval { bias_correction, acceleration, ..found }.within(range))
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

/// Refuses numbers out of range, and options that the method does not have.
fn check_request(request: &Request, has_indices: bool) -> Result<()> {
    check_level(request.confidence_level)?;
    let Request { method, statistic, .. } = request;
    let refused = |known| Err(Error::unknown_name("method", method.name(), known));
    match method {
        Method::Hierarchical => return refused("percentile, bca, exact, block for the samples of one process"),
        Method::Exact if *statistic != Statistic::Median => {
            return Err(Error::unknown_name("statistic", statistic.name(), "median where the method is exact"));
        }
        Method::Exact | Method::Block if has_indices => return refused("percentile, bca where indices are given"),
        Method::Percentile | Method::Bca | Method::Exact if request.block_length.is_some() => {
            return refused("block where a block_length is given");
        }
        _ => {}
    }
    if has_indices { Ok(()) } else { request.resampling.check().map(drop) }
}
