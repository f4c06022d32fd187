//! Student's t for pairs that may be looked at after each further pair, and stopped at any of them.
//!
//! The Bayes factor of the pairs so far, for a mean of δ standard deviations with δ normal around 0 against a mean of 0, with
//! Jeffreys' prior for the standard deviation, is a martingale with expectation 1 if the mean is 0. By Ville's inequality, it
//! ever reaches 1 / α with a probability of at most α, however long pairs are added and whatever ends them (Wang and Ramdas,
//! *Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance*, Sequential Analysis 44, 2025).

/// Inverse variance of δ before the data. With 0.5, and differences of 1.4 standard deviations, 8.5 pairs are needed on average;
/// 0.1 and 2 need 8.8 and 9.8.
const PRECISION: f64 = 0.5;

/// Returns the half width of the confidence sequence for a mean, in standard errors; infinite below a number of pairs.
pub(super) fn half_width(level: f64, pairs: usize) -> f64 {
    let n = pairs as f64;
    let factor = (((n + PRECISION) / PRECISION).ln() / 2.0 - (1.0 - level).ln()) * 2.0 / n;
    let (factor, whole) = (factor.exp(), n + PRECISION);
    let left = whole - factor * PRECISION;
    if left > 0.0 { ((factor - 1.0) * whole * (n - 1.0) / left).sqrt() } else { f64::INFINITY }
}

/// Returns the p-value of a mean of 0, which is valid at every number of pairs: the inverse of the Bayes factor, at most 1.
///
/// `statistic` is Student's t, infinite without a spread.
pub(super) fn p_value(statistic: f64, pairs: usize) -> f64 {
    let n = pairs as f64;
    let (whole, freedom, square) = (n + PRECISION, n - 1.0, statistic * statistic);
    let ratio = if square.is_finite() {
        whole * (freedom + square) / (whole * freedom + PRECISION * square)
    } else {
        whole / PRECISION
    };
    let log_factor = (PRECISION / whole).ln() / 2.0 + n / 2.0 * ratio.ln();
    (-log_factor).exp().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_and_p_value_agree() {
        for pairs in [4, 5, 10, 100, 1_000_000] {
            for level in [0.9, 0.95, 0.99] {
                let half = half_width(level, pairs);
                if half.is_finite() {
                    let p = p_value(half, pairs);
                    assert!((p / (1.0 - level) - 1.0).abs() < 1e-6, "{pairs} pairs at {level}: {p}");
                }
            }
        }
        assert_eq!((half_width(0.95, 3), p_value(0.0, 10)), (f64::INFINITY, 1.0));
        assert!(p_value(f64::INFINITY, 4) < 0.05 && p_value(f64::INFINITY, 3) > 0.05);
        assert_eq!(p_value(1e200, 5).to_bits(), p_value(f64::INFINITY, 5).to_bits());
    }
}
