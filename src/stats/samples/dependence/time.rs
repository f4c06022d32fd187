//! The autocorrelation time of a series.

use super::centred::Centred;
use super::lags::products;
use crate::error::Result;
use crate::stats::samples::Sample;

/// Autocorrelation time of a series.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) samples: f64,
    pub(super) lags: usize,
}

impl Time {
    /// Time of a series without any dependence.
    pub(super) const NONE: Self = Self { samples: 1.0, lags: 0 };
    /// Number of lags in the first attempt: even, and enough for most series.
    const AT_FIRST: usize = 16;

    /// By the initial monotone sequence; at least one sample, at most all.
    pub(super) fn of<T: Sample + Copy>(series: Centred<'_, T>, interrupted: &dyn Fn() -> bool) -> Result<Self> {
        let n = series.len();
        let (mut sum, mut pairs, mut smallest) = (0.0, 0, f64::INFINITY);
        let (mut from, mut count, mut variance) = (0, Self::AT_FIRST, None);
        'growing: while from < n {
            let sums = products(series, from, count, interrupted)?;
            let variance = *variance.get_or_insert(sums[0]);
            for pair in sums.as_chunks::<2>().0 {
                let pair = (pair[0] + pair[1]) / variance;
                // A series without variance has no correlations; it ends here too.
                if pair.is_nan() || pair <= 0.0 {
                    break 'growing;
                }
                smallest = pair.min(smallest);
                sum += smallest;
                pairs += 1;
            }
            from += count;
            // Each round as many as all before it: what is computed in vain is at most about what was needed.
            count = from;
        }
        if pairs == 0 {
            return Ok(Self::NONE);
        }
        Ok(Self { samples: (2.0 * sum - 1.0).clamp(1.0, n as f64), lags: (2 * pairs - 1).min(n - 1) })
    }
}
