//! Test of a straight line against the differences between processes.

use std::f64::consts::TAU;

use super::line::{Line, Point};
use crate::memory;
use crate::stats::samples::random::Stream;

/// Draws of the bootstrap: a p-value of 0.05 has a standard error of 0.005.
const DRAWS: usize = 2000;
/// Draws beyond what was found that end the bootstrap early: no p-value from 0.15 on needs more digits (Besag and Clifford,
/// *Sequential Monte Carlo p-values*, 1991).
const ENOUGH: usize = 300;
/// From here on, the cube root of χ² is normal to four digits (Wilson and Hilferty, 1931).
const MANY_DEGREES: usize = 32;

/// The p-value of a straight line against any other curve, by the parametric bootstrap (Krishnamoorthy, Lu and Mathew,
/// *A parametric bootstrap approach for ANOVA with unequal variances*, 2007); `None` where nothing differs within a point.
///
/// The statistic weights each point by its own variance. Variances of a few processes are uncertain, so that neither χ² nor
/// the approximation by F (Welch, 1951; Johansen, 1980) keeps the level: with 10 sizes of 3 processes the latter rejects
/// 13 %. The bootstrap draws means and variances from the line with the variances that were found.
pub(super) fn lack_of_fit(points: &[Point]) -> Option<f64> {
    let least = points.iter().map(Point::variance).filter(|&variance| variance > 0.0).min_by(f64::total_cmp)?;
    // Equal times at one size do not prove that it has no noise. It counts as the most precise of the other sizes.
    let variances: Vec<f64> = memory::collected(points.iter().map(|one| one.variance().max(least)));
    let mut drawn: Vec<Point> = memory::collected(points.iter().cloned());
    for (point, &variance) in drawn.iter_mut().zip(&variances) {
        point.squared_deviations = variance * squares_per_variance(point);
    }
    let found = distance(&drawn);
    // One seed for all data would give all tests the same error of the bootstrap. The upper digits do not depend on units.
    let mut stream = Stream::new(found.to_bits() >> 32, 0);
    let mut beyond = 0;
    for draw in 1..=DRAWS {
        for (point, &variance) in drawn.iter_mut().zip(&variances) {
            let degrees = point.processes - 1;
            let (normal, other) = normals(&mut stream);
            // The distance does not depend on the line, which may be 0 everywhere.
            point.y = normal * variance.sqrt();
            let ratio = chi_squared(degrees, other, &mut stream) / degrees as f64;
            point.squared_deviations = ratio * variance * squares_per_variance(point);
        }
        beyond += usize::from(distance(&drawn) >= found);
        if beyond == ENOUGH {
            return Some(beyond as f64 / draw as f64);
        }
    }
    Some((beyond + 1) as f64 / (DRAWS + 1) as f64)
}

/// Returns the sum of squares of a point whose mean has a variance of 1.
fn squares_per_variance(point: &Point) -> f64 {
    (point.processes * (point.processes - 1)) as f64
}

/// Returns the sum of squared distances from the best line, in variances of the points.
fn distance(points: &[Point]) -> f64 {
    let weight = |point: &Point| point.variance().recip();
    let line = Line::through(points, weight);
    points.iter().map(|one| weight(one) * line.residual(one).powi(2)).sum()
}

/// Two independent normal numbers (Box and Muller, 1958).
fn normals(stream: &mut Stream) -> (f64, f64) {
    let (radius, angle) = ((-2.0 * above_zero(stream).ln()).sqrt(), TAU * stream.unit());
    (radius * angle.cos(), radius * angle.sin())
}

/// A number from χ², made from a normal number and from a stream.
fn chi_squared(degrees: usize, normal: f64, stream: &mut Stream) -> f64 {
    if degrees >= MANY_DEGREES {
        let (degrees, variance) = (degrees as f64, 2.0 / (9.0 * degrees as f64));
        return degrees * (1.0 - variance + normal * variance.sqrt()).powi(3);
    }
    // Two degrees are an exponential number, and the sum of logarithms is that of the product.
    let product: f64 = (0..degrees / 2).map(|_| above_zero(stream)).product();
    -2.0 * product.ln() + if degrees % 2 == 1 { normal * normal } else { 0.0 }
}

/// A float in (0, 1].
fn above_zero(stream: &mut Stream) -> f64 {
    1.0 - stream.unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let (mut stream, draws) = (Stream::new(3, 1), 100_000);
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let drawn: Vec<f64> = (0..draws).map(|_| draw()).collect();
            let mean = drawn.iter().sum::<f64>() / f64::from(draws);
            (mean, drawn.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / f64::from(draws))
        };
        for degrees in [1, 2, 3, 4, 9, 31, 32, 100] {
            let (mean, variance) = moments(&mut || {
                let (_, normal) = normals(&mut stream);
                chi_squared(degrees, normal, &mut stream)
            });
            // Five standard errors.
            let wide = degrees as f64;
            assert!((mean - wide).abs() < 5.0 * (2.0 * wide / f64::from(draws)).sqrt(), "{degrees}: {mean}");
            assert!((variance / (2.0 * wide) - 1.0).abs() < 0.1, "{degrees}: {variance}");
        }
    }

    #[test]
    fn a_size_without_spread_is_as_precise_as_the_best_other() {
        let point = |size: f64, medians: &[f64]| Point::of(size, medians);
        let line = [point(1.0, &[1.0, 1.01, 0.99]), point(2.0, &[2.0; 3]), point(4.0, &[4.0, 4.1, 3.9])];
        assert!(lack_of_fit(&line).expect("some sizes have a spread") > 0.1);
        let bent = [point(1.0, &[1.0, 1.01, 0.99]), point(2.0, &[4.0; 3]), point(4.0, &[4.0, 4.1, 3.9])];
        assert!(lack_of_fit(&bent).expect("some sizes have a spread") < 0.01);
    }
}
