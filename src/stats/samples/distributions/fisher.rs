//! Fisher's F.

use statrs::function::beta::checked_beta_reg;

/// The probability that F, with so many degrees of freedom above and below, is at least `f`; NaN where that has no sense.
pub fn f_above(f: f64, above: f64, below: f64) -> f64 {
    if f == f64::INFINITY {
        return 0.0;
    }
    // The upper tail as an incomplete beta function of what is small there (DLMF 8.17).
    checked_beta_reg(below / 2.0, above / 2.0, below / (below + above * f)).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::samples::distributions::t_two_sided;

    #[test]
    fn the_square_of_t_follows_it() {
        for (t, degrees) in [(0.1, 3.0), (1.0, 7.5), (2.5, 12.0), (9.0, 40.0)] {
            let (found, expected) = (f_above(t * t, 1.0, degrees), t_two_sided(t, degrees));
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
        assert!((f_above(0.0, 2.0, 5.0) - 1.0).abs() < 1e-15);
        assert!(f_above(f64::NAN, 2.0, 5.0).is_nan());
        assert!(f_above(f64::INFINITY, 2.0, 5.0) < 1e-15);
    }
}
