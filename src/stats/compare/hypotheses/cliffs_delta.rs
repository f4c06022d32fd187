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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_share_of_pairs() {
        let delta = |baseline: &[f64], candidate: &[f64]| cliffs_delta(baseline, candidate, &|| false);
        assert_eq!(delta(&[1.0, 2.0], &[3.0]), Ok(1.0));
        assert_eq!(delta(&[3.0], &[1.0, 2.0]), Ok(-1.0));
        assert_eq!(delta(&[1.0, 2.0, 3.0], &[2.0, 4.0]), Ok(0.5));
        assert_eq!(delta(&[7.0; 5], &[7.0; 3]), Ok(0.0));
        assert!(delta(&[], &[1.0]).is_err() && delta(&[1.0], &[f64::NAN]).is_err());
    }
}
