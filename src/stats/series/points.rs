//! Iteration times as points for segmentation: logarithms of block medians, without isolated outliers.

use crate::error::Result;
use crate::memory;
use crate::stats::samples::{check, median};

/// The search takes the square of the number of points; these many take it some milliseconds.
const MOST_POINTS: usize = 2000;
/// Number of neighbours on each side that determine the usual level around a point.
const NEIGHBOURS: usize = 10;
/// Outliers are more than this many median distances from the median around them (Hampel's identifier): five standard
/// deviations of normal samples.
pub(super) const FAR: f64 = 7.4;
/// Largest share of outliers. Beyond it the times are distributed so: to remove a mode here and there would make levels.
const MOST_OUTLIERS: f64 = 0.1;

/// Logarithms of the medians of equal blocks.
pub(super) struct Points {
    pub(super) values: Vec<f64>,
    pub(super) block_size: usize,
    /// Number of outliers that were replaced by the median around them.
    pub(super) outliers: usize,
    samples: usize,
}

impl Points {
    /// The points of `samples`, all above 0; none closer than `tolerance` to its surroundings is an outlier.
    pub(super) fn of(samples: &[f64], tolerance: f64, interrupted: &dyn Fn() -> bool) -> Result<Self> {
        let block_size = samples.len().div_ceil(MOST_POINTS).max(1);
        // The last block takes what is left over.
        let count = samples.len() / block_size;
        let mut raw = memory::list(count);
        for point in 0..count {
            check(interrupted)?;
            raw.push(median("samples", &samples[block(point, count, block_size, samples.len())], interrupted)?.ln());
        }
        let filtered: Vec<f64> = memory::collected((0..count).map(|point| filtered(&raw, point, tolerance)));
        let outliers = raw.iter().zip(&filtered).filter(|(raw, value)| raw.to_bits() != value.to_bits()).count();
        let few = outliers as f64 <= MOST_OUTLIERS * count as f64;
        let (values, outliers) = if few { (filtered, outliers) } else { (raw, 0) };
        Ok(Self { values, block_size, outliers, samples: samples.len() })
    }

    /// Returns the samples of the points from `begin` to `end`.
    pub(super) fn samples(&self, begin: usize, end: usize) -> std::ops::Range<usize> {
        let end = if end == self.values.len() { self.samples } else { end * self.block_size };
        begin * self.block_size..end
    }
}

fn block(point: usize, count: usize, size: usize, samples: usize) -> std::ops::Range<usize> {
    point * size..if point + 1 == count { samples } else { (point + 1) * size }
}

/// The point, or the median around it if it is far from that.
fn filtered(points: &[f64], point: usize, tolerance: f64) -> f64 {
    let width = (2 * NEIGHBOURS + 1).min(points.len());
    let begin = point.saturating_sub(NEIGHBOURS).min(points.len() - width);
    let mut around = points[begin..begin + width].to_vec();
    let centre = middle(&mut around);
    for value in &mut around {
        *value = (*value - centre).abs();
    }
    let far = (FAR * middle(&mut around)).max(tolerance);
    if (points[point] - centre).abs() > far { centre } else { points[point] }
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_everything() {
        for n in [1, 1999, 2000, 2001, 3999, 4001, 12_345] {
            let points = Points::of(&vec![1.0; n], 0.01, &|| false).expect("the samples are sound");
            let count = points.values.len();
            assert!(count <= MOST_POINTS && count * points.block_size <= n && (count + 1) * points.block_size > n);
            assert_eq!(points.samples(count - 1, count).end, n);
        }
    }
}
