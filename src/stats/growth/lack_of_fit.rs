//! Whether points lie further from their line than their processes from one another.

use super::line::{Line, Point};
use crate::stats::samples::distributions::f_above;

/// The p-value of a straight line against any other curve, by the F test of lack of fit (Fisher, 1922); `None` where
/// nothing differs within a point, so that there is nothing to hold distances against.
pub(super) fn lack_of_fit(points: &[Point]) -> Option<f64> {
    // Points count as often as they have processes: only then does the statistic follow the law.
    let weight = |point: &Point| point.processes as f64;
    let line = Line::through(points, weight);
    let distances: f64 = points.iter().map(|one| weight(one) * line.residual(one).powi(2)).sum();
    let noise: f64 = points.iter().map(|one| one.squared_deviations).sum();
    let (above, below) = (points.len() as f64 - 2.0, points.iter().map(|one| one.processes as f64 - 1.0).sum::<f64>());
    (noise > 0.0).then(|| f_above((distances / above) / (noise / below), above, below))
}
