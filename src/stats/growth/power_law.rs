//! The exponent of time = a · n^b, from the process medians at several sizes.

use super::lack_of_fit::lack_of_fit;
use super::line::{Line, Point};
use crate::error::{Error, Result, require_finite, words};
use crate::memory;
use crate::results::result;
use crate::stats::samples::distributions::t_half_width;
use crate::stats::samples::{confidence_level as check_level, positive};

/// Least number of sizes: a line always fits two points, which contains no information about the fit.
const LEAST_SIZES: usize = 3;
/// With fewer processes of a size its spread is hardly known.
const LEAST_PROCESSES: usize = 3;

words! {
    /// Method of the interval of an exponent.
    pub enum GrowthMethod {
        /// From how processes of one size differ.
        Processes = "t_process_medians",
        /// From how far sizes lie from the line, where processes are too few.
        Residuals = "t_residuals",
    }
}

result! {
    /// Result of `growth`. Sizes and times are in the units of the arguments.
    pub struct Growth {
        /// b of time = a · size ^ b.
        pub exponent: f64,
        /// Lower end of its interval.
        pub ci_low: f64,
        /// Upper end of its interval.
        pub ci_high: f64,
        /// The level of the interval.
        pub confidence_level: f64,
        /// Method of the interval: `t_process_medians`, or `t_residuals` if a size has fewer than three processes.
        pub ci_method: GrowthMethod,
        /// Degrees of freedom of the interval's Student's t; None if nothing differs, and the interval has no width.
        pub degrees_of_freedom: Option<f64>,
        /// Number of sizes.
        pub n_points: usize,
        /// The fewest processes of a size.
        pub n_processes: usize,
        /// Geometric mean of the sizes.
        pub typical_size: f64,
        /// Geometric mean of the times: the line at the typical size.
        pub typical_time: f64,
        /// The exponent between each size and the next larger one, from the smallest size on.
        pub local_exponents: Vec<f64>,
        /// Largest distance of a time from the line, as a share: 0.1 is a factor of 1.1, up or down.
        pub largest_deviation: f64,
        /// p-value of a straight line; None where a size has fewer than three processes, or none of them differ.
        pub lack_of_fit_p: Option<f64>,
    }
}

/// Fits a power law to the times of several sizes.
///
/// Every size counts once, whatever its number of processes. The exponent is a weighted sum of the sizes' mean logarithms,
/// so that its variance is the same sum of their variances, and Satterthwaite's degrees of freedom go with it: that asks
/// neither that a line fits nor that all sizes have equal variance. With fewer than three processes of a size the interval comes from
/// the distances from the line instead, which does ask both.
///
/// # Errors
/// Fewer than three sizes, or one that is there twice; another number of times; a size or a time that is not finite or not
/// above 0; a level outside (0, 1); an interval that overflows.
pub fn growth(sizes: &[f64], times: &[&[f64]], confidence_level: f64) -> Result<Growth> {
    check_level(confidence_level)?;
    let points = points(sizes, times)?;
    let line = Line::through(&points, |_| 1.0);
    let n_processes = points.iter().map(|one| one.processes).min().unwrap_or_default();
    let replicated = n_processes >= LEAST_PROCESSES;
    let (variance, degrees_of_freedom) =
        if replicated { by_processes(&points, &line) } else { by_residuals(&points, &line) };
    let half = if variance > 0.0 { t_half_width(confidence_level, degrees_of_freedom) * variance.sqrt() } else { 0.0 };
    let largest_deviation = points.iter().map(|one| line.residual(one).abs()).fold(0.0, f64::max).exp_m1();
    require_finite("times", &[line.slope, half, largest_deviation])?;
    Ok(Growth {
        exponent: line.slope,
        ci_low: line.slope - half,
        ci_high: line.slope + half,
        confidence_level,
        ci_method: if replicated { GrowthMethod::Processes } else { GrowthMethod::Residuals },
        degrees_of_freedom: (variance > 0.0).then_some(degrees_of_freedom),
        n_points: points.len(),
        n_processes,
        typical_size: line.x.exp(),
        typical_time: line.y.exp(),
        local_exponents: points.windows(2).map(|pair| (pair[1].y - pair[0].y) / (pair[1].x - pair[0].x)).collect(),
        largest_deviation,
        lack_of_fit_p: if replicated { lack_of_fit(&points) } else { None },
    })
}

/// The points from the smallest size on.
fn points(sizes: &[f64], times: &[&[f64]]) -> Result<Vec<Point>> {
    positive("sizes", sizes, LEAST_SIZES)?;
    if sizes.len() != times.len() {
        return Err(Error::UnequalLengths {
            argument: "times",
            found: times.len(),
            other: "sizes",
            expected: sizes.len(),
        });
    }
    // Sizes whose logarithms are equal have no slope between them.
    let logs: Vec<u64> = memory::collected(sizes.iter().map(|size| size.ln().to_bits()));
    for (position, &value) in sizes.iter().enumerate() {
        if logs[..position].contains(&logs[position]) {
            return Err(Error::ElementOutOfRange {
                argument: "sizes",
                position,
                value,
                expected: "different from every other size, also in its logarithm",
            });
        }
    }
    let mut found = memory::list(sizes.len());
    for (process, (&size, &medians)) in sizes.iter().zip(times).enumerate() {
        positive("processes", medians, 1).map_err(|error| error.in_process("times", process))?;
        found.push(Point::of(size, medians));
    }
    found.sort_by(|one, other| one.x.total_cmp(&other.x));
    Ok(found)
}

/// The variance of the slope and its degrees of freedom, from how the processes of each size differ.
fn by_processes(points: &[Point], line: &Line) -> (f64, f64) {
    let parts = points.iter().map(|one| (((one.x - line.x) / line.spread).powi(2) * one.variance(), one.processes));
    let parts: Vec<(f64, usize)> = memory::collected(parts);
    let total: f64 = parts.iter().map(|(part, _)| part).sum();
    // As shares, whose squares cannot vanish all together.
    let inverse: f64 = parts.iter().map(|(part, processes)| (part / total).powi(2) / (processes - 1) as f64).sum();
    (total, inverse.recip())
}

/// The same from how far the sizes lie from the line.
fn by_residuals(points: &[Point], line: &Line) -> (f64, f64) {
    let degrees = points.len() as f64 - 2.0;
    let distances: f64 = points.iter().map(|one| line.residual(one).powi(2)).sum();
    (distances / degrees / line.spread, degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_changes_does_not_grow() {
        let always: &[f64] = &[7.0; 5];
        let found = growth(&[1.0, 2.0, 4.0], &[always; 3], 0.95).expect("sound times");
        assert_eq!((found.exponent, found.ci_low, found.ci_high), (0.0, 0.0, 0.0));
        assert_eq!((found.degrees_of_freedom, found.lack_of_fit_p, found.largest_deviation), (None, None, 0.0));
    }
}
