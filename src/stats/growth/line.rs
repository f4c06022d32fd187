//! A straight line through points of logarithms.

use crate::memory;

/// A size and the times of its processes, in logarithms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    /// Mean of the logarithms of its process medians.
    pub(super) y: f64,
    pub(super) processes: usize,
    /// Sum of squared distances of these logarithms from their mean.
    pub(super) squared_deviations: f64,
}

impl Point {
    pub(super) fn of(size: f64, medians: &[f64]) -> Self {
        let logs: Vec<f64> = memory::collected(medians.iter().map(|median| median.ln()));
        // From the first on: the mean of equal times is their own, to the last bit.
        let first = logs[0];
        let y = first + logs.iter().map(|log| log - first).sum::<f64>() / logs.len() as f64;
        let squared_deviations = logs.iter().map(|log| (log - y).powi(2)).sum();
        Self { x: size.ln(), y, processes: medians.len(), squared_deviations }
    }

    /// Returns the variance of its mean, estimated from its processes.
    pub(super) fn variance(&self) -> f64 {
        self.squared_deviations / (self.processes - 1) as f64 / self.processes as f64
    }
}

/// The line of least squares.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) slope: f64,
    /// Weighted sum of squared distances of the x from their mean.
    pub(super) spread: f64,
}

impl Line {
    /// Fits a line through points with the weights that `weight` returns.
    pub(super) fn through(points: &[Point], weight: impl Fn(&Point) -> f64) -> Self {
        let total: f64 = points.iter().map(&weight).sum();
        let centre = |of: fn(&Point) -> f64| points.iter().map(|one| weight(one) * of(one)).sum::<f64>() / total;
        let (x, y) = (centre(|one| one.x), centre(|one| one.y));
        let spread: f64 = points.iter().map(|one| weight(one) * (one.x - x).powi(2)).sum();
        let slope = points.iter().map(|one| weight(one) * (one.x - x) * (one.y - y)).sum::<f64>() / spread;
        Self { x, y, slope, spread }
    }

    /// Returns the distance of a point above the line.
    pub(super) fn residual(&self, point: &Point) -> f64 {
        point.y - self.y - self.slope * (point.x - self.x)
    }
}
