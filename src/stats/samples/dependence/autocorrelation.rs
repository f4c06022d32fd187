//! The autocorrelation function.

use super::centred::Centred;
use super::lags::products;
use crate::error::{Result, require};
use crate::memory;
use crate::stats::samples::{Moments, finite};

/// The correlation of `samples` with themselves 0, 1, … `max_lag` steps later; the first is 1.
///
/// The biased estimator: sums of fewer terms are divided by the same number as the longest, which keeps the sequence
/// positive semi-definite and its far end quiet (Priestley, *Spectral Analysis and Time Series*, 1981). Without
/// `max_lag` it goes as far as 10·log₁₀(n), rounded down, as R's `acf` does, and never beyond n − 1. Samples that are all
/// equal have no correlation; they are given that of white noise: 1, then zeros.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; a lag that is not below their number; an interruption.
pub fn autocorrelation(samples: &[f64], max_lag: Option<usize>, interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    finite("samples", samples, 1)?;
    let n = samples.len();
    let max_lag = max_lag.unwrap_or_else(|| ((10.0 * (n as f64).log10()).floor() as usize).min(n - 1));
    require(max_lag < n, "max_lag", max_lag as f64, "below the number of samples")?;
    let (min, max) = Moments::extremes(samples);
    if min >= max {
        return Ok(memory::collected((0..=max_lag).map(|lag| if lag == 0 { 1.0 } else { 0.0 })));
    }
    let series = Centred::new(samples, max.abs().max(min.abs()), interrupted)?;
    let sums = products(series, 0, max_lag + 1, interrupted)?;
    let variance = sums[0];
    Ok(memory::collected(sums.into_iter().map(|sum| sum / variance)))
}
