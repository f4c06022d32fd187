//! Continued fractions.

/// A continued fraction by the algorithm of Lentz as modified by Thompson and Barnett (1986): its first denominator, and the
/// numerator and the denominator of each place from 1 on.
pub(super) fn continued_fraction(first: f64, at: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut fraction = first;
    let (mut c, mut d) = (fraction, 0.0);
    for m in 1..10_000 {
        let (numerator, denominator) = at(f64::from(m));
        d = 1.0 / (denominator + numerator * d);
        c = denominator + numerator / c;
        let change = c * d;
        fraction *= change;
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}
