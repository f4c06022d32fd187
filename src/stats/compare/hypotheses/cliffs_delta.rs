//! Cliff's δ: how far two sides lie apart, in pairs.

use super::ranks::Pairs;
use crate::error::Result;

/// The probability that a value of the candidate's exceeds one of the baseline's, less that of the contrary: 1 where all of
/// the candidate's are larger, 0 where neither side tends to be (Cliff, *Dominance Statistics: Ordinal Analyses to Answer
/// Ordinal Questions*, 1993).
///
/// # Errors
/// An empty side; a NaN or an infinity, by position; an interruption.
pub fn cliffs_delta(baseline: &[f64], candidate: &[f64], interrupted: &dyn Fn() -> bool) -> Result<f64> {
    let Pairs { less, equal, greater, .. } = Pairs::of(baseline, candidate, interrupted)?;
    // The difference of whole numbers is exact; that of the probabilities would not be.
    let difference = greater.abs_diff(less) as f64 / (less + equal + greater) as f64;
    Ok(if greater < less { -difference } else { difference })
}
