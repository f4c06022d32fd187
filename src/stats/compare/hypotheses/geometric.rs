//! One ratio for a whole table.

use crate::error::{Result, require_finite};
use crate::memory;
use crate::results::result;
use crate::stats::samples::distributions::t_half_width;
use crate::stats::samples::{Moments, check, confidence_level as check_level, positive};

result! {
    /// Result of `geometric_mean_ratio`.
    pub struct GeometricMean {
        /// Geometric mean of the ratios.
        pub ratio: f64,
        /// Lower end of the mean's interval; None for one ratio.
        pub ci_low: Option<f64>,
        /// Upper end of the mean's interval; None for one ratio.
        pub ci_high: Option<f64>,
        /// Number of ratios.
        pub count: usize,
        /// Standard deviation of the natural logarithms with the divisor n - 1; None for one ratio.
        pub log_stddev: Option<f64>,
        /// The level of the interval.
        pub confidence_level: f64,
    }
}

/// The geometric mean, the only one whose answer does not depend on which side ratios are taken to (Fleming and Wallace,
/// *How not to lie with statistics*, Communications of the ACM 29, 1986), with Student's t on the logarithms.
///
/// # Errors
/// No ratios; one that is not finite or not above 0, by position; a level outside (0, 1); an interval that overflows; an interruption.
pub fn geometric_mean_ratio(
    ratios: &[f64],
    confidence_level: f64,
    interrupted: &dyn Fn() -> bool,
) -> Result<GeometricMean> {
    positive("ratios", ratios, 1)?;
    check_level(confidence_level)?;
    let logs = logarithms(ratios, interrupted)?;
    let moments = Moments::of(&logs)?;
    let n = moments.count;
    let log_stddev = moments.stddev();
    let half_width =
        log_stddev.map(|stddev| t_half_width(confidence_level, (n - 1) as f64) * stddev / (n as f64).sqrt());
    let ci_high = half_width.map(|half_width| (moments.mean + half_width).exp());
    require_finite("ratios", ci_high.as_slice())?;
    Ok(GeometricMean {
        ratio: moments.mean.exp(),
        ci_low: half_width.map(|half_width| (moments.mean - half_width).exp()),
        ci_high,
        count: n,
        log_stddev,
        confidence_level,
    })
}

/// Natural logarithms; every value is above 0.
pub(crate) fn logarithms(values: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    /// Done in some milliseconds, between which the caller is asked.
    const PART: usize = 1 << 20;
    let mut logs = memory::list(values.len());
    for part in values.chunks(PART) {
        check(interrupted)?;
        logs.extend(part.iter().map(|value| value.ln()));
    }
    Ok(logs)
}
