//! The interval of one set of samples.

use super::bias::Correction;
use super::limits::Distribution;
use super::request::{BootstrapInterval, Method, Request, summable};
use super::{Statistic, block, exact, resample};
use crate::error::{Error, Result};
use crate::memory;
use crate::stats::samples::{check, confidence_level as check_level, sorted};

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
    let in_order = sorted(memory::copied(samples), interrupted)?;
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
