//! Length of blocks: long enough to hold the dependence, short enough to leave many blocks.

use super::Statistic;
use super::median::median_of;
use crate::error::Result;
use crate::memory;
use crate::stats::samples::{Moments, check, sorted};

/// The length of circular blocks with the least mean squared error of the standard error, estimated from the samples.
///
/// Politis and White, *Automatic block-length selection for the dependent bootstrap*, 2004, with the correction of Patton,
/// Politis and White, 2009: (3 (g/s)² n / 2)^{1/3}, rounded, where s = Σ λ(k/M) ρ(k) and g = Σ λ(k/M) |k| ρ(k) over |k| ≤ M, with
/// the flat-top window λ. M is twice the lag after which five autocorrelations in a row are below 2 √(log₁₀ n / n), at most
/// √n + 5; the length is at most 3 √n and n/3. The rule is one for means: of the median it takes the series that says whether a
/// sample lies above it. 1 for samples that are all equal.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; values whose squares overflow; [`crate::error::Error::Interrupted`], if
/// `interrupted` says so.
pub fn automatic_block_length(samples: &[f64], statistic: Statistic, interrupted: &dyn Fn() -> bool) -> Result<usize> {
    let moments = Moments::of(samples)?;
    let distances: Vec<f64> = match statistic {
        Statistic::Mean => memory::collected(samples.iter().map(|sample| sample - moments.mean)),
        Statistic::Median => {
            let median = median_of(&sorted(memory::copied(samples), interrupted)?);
            let above = |&sample: &f64| f64::from(u8::from(sample > median)) + f64::from(u8::from(sample >= median));
            let above: Vec<f64> = memory::collected(samples.iter().map(above));
            let mean = above.iter().sum::<f64>() / above.len() as f64;
            memory::collected(above.into_iter().map(|sample| sample - mean))
        }
    };
    // Constant samples whose mean is rounded have distances, but they mean nothing.
    if moments.min >= moments.max {
        return Ok(1);
    }
    best_length(&distances, interrupted)
}

fn best_length(distances: &[f64], interrupted: &dyn Fn() -> bool) -> Result<usize> {
    let n = distances.len() as f64;
    let most = (3.0 * n.sqrt()).min(n / 3.0).ceil().max(1.0);
    let correlations = correlations(distances, interrupted)?;
    let lags = correlations.len() as f64;
    let (mut spread, mut slope) = (1.0, 0.0);
    for (lag, correlation) in (1..).zip(&correlations) {
        let lag = f64::from(lag);
        let weight = (2.0 * (1.0 - lag / lags)).min(1.0);
        spread += 2.0 * weight * correlation;
        slope += 2.0 * weight * lag * correlation;
    }
    let ratio = slope / spread;
    let best = (1.5 * ratio * ratio * n).cbrt();
    // No spread at all: no block is long enough.
    let best = if best.is_finite() { best } else { most };
    Ok(best.min(most).round().max(1.0) as usize)
}

/// The autocorrelations that matter, from lag 1 on.
fn correlations(distances: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    const RUN: usize = 5;
    let n = distances.len();
    let most = ((n as f64).sqrt().ceil() as usize + RUN).min(n - 1);
    let small = 2.0 * ((n as f64).log10() / n as f64).sqrt();
    let largest = distances.iter().fold(0.0, |largest: f64, distance| largest.max(distance.abs()));
    if largest == 0.0 {
        return Ok(Vec::new());
    }
    // In units of the largest, so that no product vanishes.
    let scaled: Vec<f64> = memory::collected(distances.iter().map(|distance| distance / largest));
    let product = |lag: usize| scaled.iter().zip(&scaled[lag..]).map(|(one, other)| one * other).sum::<f64>();
    let square = product(0);
    let (mut found, mut run, mut wanted, mut is_first) = (Vec::new(), 0, most, true);
    while found.len() < wanted {
        check(interrupted)?;
        let lag = found.len() + 1;
        let correlation = product(lag) / square;
        found.push(correlation);
        run = if correlation.abs() < small { run + 1 } else { 0 };
        if run == RUN && is_first {
            is_first = false;
            wanted = (2 * (lag - RUN).max(1)).min(most);
        }
    }
    found.truncate(wanted);
    Ok(found)
}
