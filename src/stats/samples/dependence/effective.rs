//! To how many independent samples dependent ones amount.

use super::centred::Centred;
use super::ordinal::signs;
use super::time::Time;
use crate::error::Result;
use crate::results::result;
use crate::stats::samples::{Moments, Statistic, finite, median};

result! {
    /// Result of `effective_sample_size`.
    pub struct EffectiveSize {
        /// Number of samples.
        pub count: usize,
        /// Number of independent samples with the same information; from 1 to n.
        pub n_effective: f64,
        /// n over n_effective, in samples; at least 1.
        pub autocorrelation_time: f64,
        /// Last lag whose correlation was used; 0 for equal samples.
        pub lags: usize,
        /// Point estimate that this holds for: `mean` or `median`.
        pub of: Statistic,
        /// Always True: the number does not include differences between processes.
        pub within_one_process: bool,
    }
}

/// To how many independent samples `samples` amount, where their mean or median is to be known.
///
/// The autocorrelation time is −1 plus twice the sum of Geyer's initial monotone sequence (*Practical Markov Chain Monte
/// Carlo*, Statistical Science 7, 1992): correlations are added in pairs of neighbouring lags as long as the pairs
/// are positive, and none may exceed the one before it. Negative dependence, which would make it less than 1, is not relied on.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; an interruption.
pub fn effective_sample_size(samples: &[f64], of: Statistic, interrupted: &dyn Fn() -> bool) -> Result<EffectiveSize> {
    finite("samples", samples, 1)?;
    let (min, max) = Moments::extremes(samples);
    let time = match of {
        _ if min >= max => Time::NONE,
        Statistic::Mean => Time::of(Centred::new(samples, max.abs().max(min.abs()), interrupted)?, interrupted)?,
        Statistic::Median => {
            let signs = signs(samples, median("samples", samples, interrupted)?);
            Time::of(Centred::new(&signs, 1.0, interrupted)?, interrupted)?
        }
    };
    Ok(EffectiveSize {
        count: samples.len(),
        n_effective: samples.len() as f64 / time.samples,
        autocorrelation_time: time.samples,
        lags: time.lags,
        of,
        within_one_process: true,
    })
}
