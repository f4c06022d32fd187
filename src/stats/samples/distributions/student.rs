//! Student's t.
//!
//! With ν degrees of freedom, x = ν / (ν + t²) and y = 1 − x, the two tails hold the regularised incomplete beta function
//! Iₓ(ν/2, 1/2), and what lies between them `I_y(1/2, ν/2)` (DLMF 8.17). Both are a common factor, which is t times the
//! density at t, times something that changes slowly: a continued fraction for the tails, a series for the centre. Neither x
//! nor y is ever had from the other by a subtraction, which for many degrees of freedom would cost all digits.

use std::f64::consts::PI;

use super::fraction::continued_fraction;
use super::normal::normal_quantile;

/// With more degrees of freedom nothing changes, and expressions of them could overflow.
const MOST_DEGREES: f64 = 1e300;

/// The probability that Student's t lies at least as far from 0 as `t`, on either side; NaN unless the degrees of freedom,
/// which need not be whole, are above 0.
pub fn t_two_sided(t: f64, degrees_of_freedom: f64) -> f64 {
    let nu = degrees_of_freedom;
    if t.is_nan() || nu.is_nan() || nu <= 0.0 {
        return f64::NAN;
    }
    if t == 0.0 || t.is_infinite() {
        return if t == 0.0 { 1.0 } else { 0.0 };
    }
    let place = Place::of(t.abs(), nu.min(MOST_DEGREES));
    if place.in_tail() { place.ln_factor.exp() * place.tail() } else { 1.0 - place.ln_factor.exp() * place.centre() }
}

/// The value that Student's t with so many degrees of freedom does not exceed with probability `p`; NaN unless `p` lies
/// between 0 and 1 and the degrees of freedom above 0.
pub fn t_quantile(p: f64, degrees_of_freedom: f64) -> f64 {
    let nu = degrees_of_freedom;
    if !(0.0..=1.0).contains(&p) || nu.is_nan() || nu <= 0.0 {
        return f64::NAN;
    }
    // What both tails are to hold, and what the centre; the one that is small has all its digits.
    let (tails, centre) = (2.0 * p.min(1.0 - p), (2.0 * p - 1.0).abs());
    let size = if tails == 0.0 {
        f64::INFINITY
    } else if centre == 0.0 {
        0.0
    } else {
        invert(tails, centre, nu.min(MOST_DEGREES))
    };
    size.copysign(p - 0.5)
}

/// Half the width of an interval of so many standard errors, by Student's t, at a level of confidence.
///
/// By the lower tail: 1 less the upper one has fewer digits, and none of the highest levels.
pub fn t_half_width(confidence_level: f64, degrees_of_freedom: f64) -> f64 {
    -t_quantile((1.0 - confidence_level) / 2.0, degrees_of_freedom)
}

/// The t above 0 outside which `tails` lies, and inside which `centre`.
///
/// Newton's method on logarithms. The logarithm of t has a density whose logarithm is concave, so that the logarithms of both
/// probabilities are concave in it (Prékopa, 1973): after its first step the method approaches from one side, and it cannot
/// fail.
fn invert(tails: f64, centre: f64, nu: f64) -> f64 {
    const MOST_STEPS: usize = 200;
    let mut ln_t = guess(tails, nu).ln().clamp(-700.0, 700.0);
    // Where the logarithm of the tails is nearly flat the centre's is steep.
    let by_tail = tails < 0.5;
    for _ in 0..MOST_STEPS {
        let place = Place::of(ln_t.exp(), nu);
        let step = if by_tail {
            let tail = place.share(true);
            (place.ln_factor + tail.ln() - tails.ln()) * tail / 2.0
        } else {
            let centre_there = place.share(false);
            (centre.ln() - place.ln_factor - centre_there.ln()) * centre_there / 2.0
        };
        ln_t += step;
        if ln_t > 710.0 {
            return f64::INFINITY;
        }
        // Quadratic: what this step has left is beyond the last digit.
        if step.abs() < 1e-9 {
            break;
        }
    }
    ln_t.exp()
}

/// From the normal quantile, by the approximation of Wallace (1959) turned round.
fn guess(tails: f64, nu: f64) -> f64 {
    let z = normal_quantile(tails / 2.0) * (8.0 * nu + 3.0) / (8.0 * nu + 1.0);
    (nu * (z * z / nu).exp_m1()).sqrt()
}

/// Values of t and ν that both expansions use.
struct Place {
    /// ν / 2.
    a: f64,
    x: f64,
    y: f64,
    /// t² / ν = y / x.
    odds: f64,
    /// The logarithm of x^(ν/2) √y / B(ν/2, 1/2), which is t times the density at t.
    ln_factor: f64,
}

impl Place {
    /// `t` and `nu` are above 0.
    fn of(t: f64, nu: f64) -> Self {
        let root = t / nu.sqrt();
        // Rounded once less than the square of the root, which the power of x would multiply by ν.
        let odds = if (1e-150..1e150).contains(&t) { t * t / nu } else { root * root };
        // Beyond 10⁸, where adding 1 does not change `odds`, the square may overflow; below 10⁻¹⁵⁰ it may vanish, and its root not.
        let ln_x = if root > 1e8 { -2.0 * root.ln() } else { -odds.ln_1p() };
        let ln_root_y = root.ln() + ln_x / 2.0;
        let (x, y) = if root > 1e8 { (1.0 / root / root, 1.0) } else { (1.0 / (1.0 + odds), odds / (1.0 + odds)) };
        let a = nu / 2.0;
        Self { a, x, y, odds, ln_factor: a * ln_x + ln_root_y + ln_beta_reciprocal(a) }
    }

    /// Returns true if the continued fraction converges quickly: beyond the mean of the distribution of x.
    fn in_tail(&self) -> bool {
        self.odds * (self.a + 1.0) > 1.5
    }

    /// The tails or the centre over the factor, from whichever of the two is good here.
    fn share(&self, of_tail: bool) -> f64 {
        let whole = (-self.ln_factor).exp();
        match (of_tail, self.in_tail()) {
            (true, true) => self.tail(),
            (false, false) => self.centre(),
            (true, false) => whole - self.centre(),
            (false, true) => whole - self.tail(),
        }
    }

    /// Iₓ(a, 1/2) over the factor: the even part of the continued fraction DLMF 8.17.22, in the form of `DiDonato` and Morris
    /// (1992), which has t² / ν where the difference of two large numbers would be.
    fn tail(&self) -> f64 {
        const B: f64 = 0.5;
        let Self { a, x, y, .. } = *self;
        let excess = a * y - B * x;
        let numerator = |m: f64| {
            let between = a + 2.0 * m - 1.0;
            (a + m - 1.0) / between * ((a + B + m - 1.0) / between) * (m * (B - m) * x * x)
        };
        let denominator = |m: f64| {
            // Nothing over nothing where a and m start at 1 and 0.
            let before = if m > 0.0 { m * (B - m) * x / (a + 2.0 * m - 1.0) } else { 0.0 };
            m + before + (a + m) / (a + 2.0 * m + 1.0) * (excess + 1.0 + m * (1.0 + y))
        };
        1.0 / continued_fraction(denominator(0.0), |m| (numerator(m), denominator(m)))
    }

    /// `I_y(1/2, a)` over the factor: the series DLMF 8.17.8, all of whose terms are positive.
    fn centre(&self) -> f64 {
        let (mut term, mut sum) = (2.0, 2.0);
        for n in 0..10_000 {
            term *= (self.a + 0.5 + f64::from(n)) / (1.5 + f64::from(n)) * self.y;
            sum += term;
            if term < sum * f64::EPSILON / 4.0 {
                break;
            }
        }
        sum
    }
}

/// The logarithm of 1 / B(a, 1/2) = Γ(a + 1/2) / (Γ(a) √π).
fn ln_beta_reciprocal(a: f64) -> f64 {
    // The difference of two Stirling series (DLMF 5.11.1): the large parts of either never come up. Small `a` are moved to
    // where it converges, by Γ(a + 1) = a Γ(a).
    const ENOUGH: f64 = 20.0;
    let (mut a, mut moved) = (a, 1.0);
    while a < ENOUGH {
        moved *= a / (a + 0.5);
        a += 1.0;
    }
    let w = 1.0 / (a * a);
    let series = -1.0 / 8.0 + w * (1.0 / 192.0 + w * (-1.0 / 640.0 + w * (17.0 / 14336.0 - w * (31.0 / 18432.0))));
    0.5 * (a / PI).ln() + series / a + moved.ln()
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact results are exact")]
mod tests {
    use super::*;

    /// t, degrees of freedom, the probability of both tails: computed with 60 digits by mpmath 1.4, from its incomplete beta
    /// function and, from 10⁴ degrees of freedom on, from the series and the continued fraction DLMF 8.17.8 and 8.17.22.
    #[allow(clippy::unreadable_literal, reason = "as they were computed")]
    const TAILS: &[(f64, f64, f64)] = &[
        (1e-10, 0.5, 0.9999999999460647),
        (0.3, 0.5, 0.8448591521304908),
        (1000000.0, 0.5, 0.0006414019508283977),
        (1e100, 1.0, 6.366197723675814e-101),
        (3.0, 1.0, 0.20483276469913345),
        (37.0, 2.0, 0.0007296608049250636),
        (1.5, 2.0, 0.2723931248910011),
        (1e60, 4.5, 1.0498390247286867e-269),
        (2.2, 4.7, 0.08255138137225697),
        (1.8, 9.0, 0.1053906715864089),
        (14.0, 18.0, 4.065446846350217e-11),
        (0.001, 29.3, 0.9992088931942019),
        (200.0, 150.0, 5.551379106652642e-184),
        (1.7, 333.3, 0.09006382913222662),
        (37.0, 1000.0, 1.7300788809913061e-189),
        (1.96, 100000.0, 0.04999856319430164),
        (30.0, 1000000.0, 1.2020094233663438e-197),
        (0.5, 100000000.0, 0.6170750785521779),
        (1.74, 100000000.0, 0.08185902103399958),
        (5.0, 100000000.0, 5.733041101267286e-07),
        (37.0, 100000000.0, 1.1504999776822916e-299),
    ];

    /// p near the middle, degrees of freedom, the quantile: roots of the same functions.
    #[allow(clippy::unreadable_literal, reason = "as they were computed")]
    const QUANTILES: &[(f64, f64, f64)] = &[
        (0.50001, 0.5, 3.7081493571352896e-05),
        (0.500001, 3.0, 2.7206990464340377e-06),
        (0.6, 9.0, 0.26095533647391095),
        (0.55, 100.0, 0.1259808820415398),
        (0.51, 1000000.0, 0.02506891452987755),
    ];

    #[test]
    fn tails_have_their_digits() {
        for &(t, nu, expected) in TAILS {
            let found = t_two_sided(t, nu);
            assert!((found / expected - 1.0).abs() < 2e-13, "{t} {nu}: {found:e}, not {expected:e}");
            assert_eq!(t_two_sided(-t, nu).to_bits(), found.to_bits());
        }
    }

    #[test]
    fn quantiles_have_their_digits() {
        for &(p, nu, expected) in QUANTILES {
            let found = t_quantile(p, nu);
            assert!((found / expected - 1.0).abs() < 2e-14, "{p} {nu}: {found:e}, not {expected:e}");
        }
        // Far from the middle a quantile has the digits of its tail.
        for &(t, nu, tails) in TAILS.iter().filter(|(_, _, tails)| *tails < 0.5) {
            let found = t_quantile(tails / 2.0, nu);
            assert!((found / -t - 1.0).abs() < 2e-14, "{tails:e} {nu}: {found:e}, not {:e}", -t);
            // Above a half, 1 - p is a float.
            let (p, above) = (1.0 - tails / 2.0, t_quantile(1.0 - tails / 2.0, nu));
            assert!(p == 1.0 || (t_quantile(1.0 - p, nu) + above).abs() <= 1e-14 * above.abs(), "{p} {nu}");
        }
    }

    #[test]
    fn a_quantile_undoes_its_tail_everywhere() {
        for nu in [0.5, 0.9, 1.0, 2.0, 3.0, 4.0, 30.0, 1e3, 1e5, 1e8, 1e12] {
            for exponent in (1..300).step_by(6) {
                let p = 0.5_f64.powi(exponent);
                let t = t_quantile(p, nu);
                if t.is_infinite() {
                    assert!(f64::from(exponent) * std::f64::consts::LN_2 / nu > 600.0, "{p:e} {nu}");
                    continue;
                }
                assert!((t_two_sided(t, nu) / (2.0 * p) - 1.0).abs() < 1e-12, "{p:e} {nu}: {t}");
            }
        }
    }

    #[test]
    fn the_ends_and_what_makes_no_sense() {
        assert_eq!((t_two_sided(0.0, 3.0), t_two_sided(f64::INFINITY, 3.0)), (1.0, 0.0));
        assert_eq!((t_quantile(0.5, 3.0), t_quantile(0.0, 3.0)), (0.0, f64::NEG_INFINITY));
        assert_eq!((t_quantile(1.0, 3.0), t_two_sided(1e300, 5e7)), (f64::INFINITY, 0.0));
        // With no end of degrees it is the normal distribution.
        for nu in [1e300, 1e308, f64::INFINITY] {
            assert!((t_quantile(0.025, nu) / normal_quantile(0.025) - 1.0).abs() < 1e-14, "{nu}");
            assert!((t_two_sided(normal_quantile(0.025), nu) / 0.05 - 1.0).abs() < 1e-14, "{nu}");
        }
        let senseless =
            [t_quantile(-0.1, 3.0), t_quantile(0.3, 0.0), t_quantile(f64::NAN, 1.0), t_two_sided(1.0, -1.0)];
        assert!(senseless.iter().all(|value| value.is_nan()));
        // Tails and centre meet without a step.
        for nu in [0.5_f64, 1.0, 2.0, 10.0, 1e6] {
            let border = (3.0 * nu / (nu + 2.0)).sqrt();
            let (below, above) = (t_two_sided(border * (1.0 - 1e-14), nu), t_two_sided(border * (1.0 + 1e-14), nu));
            assert!((below / above - 1.0).abs() < 1e-13, "{nu}");
        }
    }
}
