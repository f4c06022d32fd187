//! The normal distribution.

use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

use statrs::function::erf::erfc_inv;

use super::fraction::continued_fraction;

/// The probability that a standard normal variable does not exceed `z`.
pub fn normal_cdf(z: f64) -> f64 {
    let tail = normal_two_sided(z) / 2.0;
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// The value that a standard normal variable does not exceed with probability `p`, which lies between 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * p)
}

/// The probability that a standard normal variable lies at least as far from 0 as `z`, on either side.
///
/// That is Γ(1/2, z²/2) / √π: Legendre's continued fraction for what is far out (DLMF 8.9.2, its even part), the series of
/// the other part for what is not (DLMF 8.7.1).
pub fn normal_two_sided(z: f64) -> f64 {
    let w = z * z / 2.0;
    // √w e^-w Γ(1/2)⁻¹, twice.
    let factor = FRAC_2_SQRT_PI * (z.abs() / SQRT_2) * (-w).exp();
    if z.is_nan() {
        f64::NAN
    } else if w < 1.5 {
        1.0 - factor * series(w)
    } else if w > 800.0 {
        0.0
    } else {
        factor / 2.0 * fraction(w)
    }
}

/// 1 + w/(3/2) + w²/(3/2 · 5/2) + …
fn series(w: f64) -> f64 {
    let (mut term, mut sum, mut next) = (1.0, 1.0, 1.5);
    while term > sum * f64::EPSILON / 4.0 {
        term *= w / next;
        sum += term;
        next += 1.0;
    }
    sum
}

/// 1/(w + 1/2 − (1 · 1/2)/(w + 5/2 − (2 · 3/2)/(w + 9/2 − …))).
fn fraction(w: f64) -> f64 {
    1.0 / continued_fraction(w + 0.5, |m| (m * (0.5 - m), w + 0.5 + 2.0 * m))
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact results are exact")]
mod tests {
    use super::*;

    /// z and the probability of both tails: computed with 60 digits by mpmath 1.4.
    #[allow(clippy::unreadable_literal, reason = "as they were computed")]
    const TAILS: &[(f64, f64)] = &[
        (1e-12, 0.9999999999992021),
        (0.1, 0.920344325445942),
        (0.736454, 0.46145445207329966),
        (1.0, 0.3173105078629141),
        (1.7, 0.08913092551708608),
        (1.75, 0.08011831372763419),
        (1.96, 0.04999579029644087),
        (3.0, 0.002699796063260189),
        (6.0, 1.973175290075396e-09),
        (8.5, 1.8959069644406635e-17),
        (20.0, 5.5072482372124675e-89),
        (37.0, 1.1451142445049154e-299),
    ];

    /// p and the quantile: roots of the same function.
    #[allow(clippy::unreadable_literal, reason = "as they were computed")]
    const QUANTILES: &[(f64, f64)] = &[
        (1e-300, -37.0470962993612),
        (1e-20, -9.262340089798407),
        (1e-05, -4.264890793922825),
        (0.025, -1.9599639845400543),
        (0.25, -0.6744897501960817),
        (0.4999, -0.00025066283008800747),
        (0.51, 0.025068908258711057),
        (0.75, 0.6744897501960817),
        (0.975, 1.9599639845400538),
        (0.9999999, 5.199337582290661),
    ];

    #[test]
    fn tails_have_their_digits() {
        for &(z, expected) in TAILS {
            // The square of z is rounded, which the exponential multiplies by it.
            let bound = 4e-15 + z * z * f64::EPSILON / 2.0;
            for (found, expected) in [
                (normal_two_sided(z), expected),
                (normal_two_sided(-z), expected),
                (normal_cdf(-z), expected / 2.0),
                (normal_cdf(z), 1.0 - expected / 2.0),
            ] {
                assert!((found / expected - 1.0).abs() < bound, "{z}: {found:e}, not {expected:e}");
            }
        }
    }

    #[test]
    fn quantiles_have_their_digits() {
        for &(p, expected) in QUANTILES {
            let found = normal_quantile(p);
            assert!((found / expected - 1.0).abs() < 2e-15, "{p}: {found:e}, not {expected:e}");
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!((normal_two_sided(0.0), normal_two_sided(50.0), normal_two_sided(f64::INFINITY)), (1.0, 0.0, 0.0));
        assert_eq!((normal_cdf(f64::NEG_INFINITY), normal_cdf(0.0), normal_cdf(f64::INFINITY)), (0.0, 0.5, 1.0));
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(normal_two_sided(f64::NAN).is_nan() && normal_quantile(0.5) == 0.0);
    }
}
