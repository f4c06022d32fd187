//! The deepest valley of a density estimate: finds two separate modes in fewer samples than the dip does.
//!
//! The dip holds samples against every distribution with one mode, uniform ones among them, and so needs some hundred samples
//! for what an eye sees in fifty. A density estimate takes smoothness for granted. Its valleys are ranked by the number of
//! samples on their smaller side, since the far ones of a long tail leave valleys between them too.

use std::ops::Range;

use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::stats::samples::check;

/// Bins in the bandwidth of the estimate: fine enough for their rounding not to matter.
const FINE: f64 = 8.0;
/// The kernel ends at four bandwidths, in half bins.
const REACH: usize = 64;
/// A place, in bins, beyond which all values share a bin: twice it is finite still.
const FARTHEST: f64 = 1e300;
/// Least number of samples for a valley: among fewer samples, deep gaps are common with one mode.
const FEWEST: usize = 20;
/// Bins between which the caller is asked: a few milliseconds.
const PART: usize = 1 << 14;

/// A valley between two peaks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Valley {
    /// Depth, relative to the limit of chance and long tails.
    depth: f64,
    /// Number of samples left of it.
    pub(super) left: usize,
    /// The positions of the samples within a bandwidth of either peak.
    pub(super) peaks: [Range<usize>; 2],
}

impl Valley {
    /// Returns the depth times the dip of the samples relative to the dip of chance: two modes if that is above 1.
    ///
    /// A valley in a long tail adds little to the dip, one between two modes much. The numbers are from simulation, as those
    /// of the limits below.
    pub(super) fn evidence(&self, dip: f64, critical_dip: f64) -> f64 {
        self.depth.max(0.0) * (dip / critical_dip).powf(0.6) / 0.76
    }
}

/// Limits of the depth by chance and long tails among `n` samples.
///
/// They were chosen so that with the dip's weight 5 % of lognormal samples go beyond, if the standard deviation of their
/// logarithms is 1. Of normal, exponential and less skewed samples far fewer do, of Pareto's with the shape 2 a tenth.
struct Limits {
    /// Limit of the missing part of the lower peak, times the root of the number of samples on the smaller side: few samples.
    missing: f64,
    /// Limit of the difference of the roots of both heights, in samples within the kernel, whose variance does not depend on
    /// the height: a tail whose samples lie too far apart for the bandwidth.
    roots: f64,
}

impl Limits {
    fn of(n: usize) -> Self {
        let n = n as f64;
        // Few samples, of which one more on a side counts, would go beyond in 6 %.
        let few = (50.0 / n).powf(0.1).max(1.0);
        Self { missing: few * 2.52 * (n / 50.0).powf(0.17), roots: few * (0.53 + 0.43 * n.log10()) }
    }
}

/// The deepest valley of ascending values; `None` where they have no spread to take a bandwidth from, or are too few.
pub(super) fn deepest(values: &[f64], half: f64, tick: f64, interrupted: &dyn Fn() -> bool) -> Result<Option<Valley>> {
    let n = values.len();
    // The shortest half of a normal distribution is 1.349 standard deviations wide.
    let bandwidth = (0.8 * half / 1.349 * (n as f64).powf(-0.2)).max(tick);
    if bandwidth <= 0.0 || n < FEWEST {
        return Ok(None);
    }
    let bins = Bins::of(values, bandwidth / FINE);
    let (heights, gaps) = bins.densities(interrupted)?;
    // The highest bin from each on to the right.
    let mut highest_after: Vec<usize> = memory::collected(0..heights.len());
    for bin in (0..heights.len() - 1).rev() {
        if heights[highest_after[bin + 1]] > heights[bin] {
            highest_after[bin] = highest_after[bin + 1];
        }
    }
    let mut deepest: Option<(f64, usize, usize, usize)> = None;
    let (mut before, limits) = (0, Limits::of(n));
    for (bin, &height) in gaps.iter().enumerate() {
        if heights[bin] > heights[before] {
            before = bin;
        }
        let (after, left) = (highest_after[bin + 1], bins.first[bin + 1]);
        let peak = heights[before].min(heights[after]);
        let missing = (1.0 - height / peak) * (left.min(n - left) as f64).sqrt();
        let depth = (missing / limits.missing).min((peak.sqrt() - height.sqrt()) / limits.roots);
        if deepest.is_none_or(|(most, ..)| depth > most) {
            deepest = Some((depth, left, before, after));
        }
    }
    let around = |bin: usize, side: Range<usize>| {
        let middle = values[bins.first[bin]];
        let inside = &values[side.clone()];
        // Holds the middle at least, also where a bandwidth is less than its rounding.
        let from = inside.partition_point(|&value| value < middle - bandwidth);
        let to = inside.partition_point(|&value| value <= middle + bandwidth);
        side.start + from..side.start + to
    };
    Ok(deepest.map(|(depth, left, before, after)| Valley {
        depth,
        left,
        peaks: [around(before, 0..left), around(after, left..n)],
    }))
}

/// The bins that hold anything.
struct Bins {
    /// Position of each, in bins from the smallest value.
    place: Vec<f64>,
    /// The position of its first value; one more for the end.
    first: Vec<usize>,
}

impl Bins {
    #[allow(clippy::float_cmp, reason = "whole numbers")]
    fn of(values: &[f64], width: f64) -> Self {
        let (mut place, mut first) = (Vec::new(), Vec::new());
        for (position, value) in values.iter().enumerate() {
            let bin = ((value - values[0]) / width).floor().min(FARTHEST);
            if place.last() != Some(&bin) {
                place.put(bin);
                first.put(position);
            }
        }
        first.put(values.len());
        Self { place, first }
    }

    /// The density, but for a factor, at each bin and halfway to the next.
    fn densities(&self, interrupted: &dyn Fn() -> bool) -> Result<(Vec<f64>, Vec<f64>)> {
        let kernel: Vec<f64> =
            memory::collected((0..=REACH).map(|half_bins| (-0.5 * (half_bins as f64 / 2.0 / FINE).powi(2)).exp()));
        let at = |place: f64, from: usize| {
            let near = self.place[from..].iter().zip(from..).map(|(other, bin)| (2.0 * (other - place), bin));
            let near = near.take_while(|(half_bins, _)| *half_bins <= REACH as f64);
            near.map(|(half_bins, bin)| {
                // Bins ascend, so that all are within reach; others would have weight 0.
                let weight = kernel.get(half_bins.abs() as usize).copied().unwrap_or(0.0);
                (self.first[bin + 1] - self.first[bin]) as f64 * weight
            })
            .sum()
        };
        let (mut heights, mut gaps) = (memory::list(self.place.len()), memory::list(self.place.len()));
        let mut from = 0;
        for (bin, &place) in self.place.iter().enumerate() {
            if bin % PART == 0 {
                check(interrupted)?;
            }
            let mut advance = |place: f64| {
                // Halfway in a wide gap nothing is near on the left.
                while 2.0 * (place - self.place[from]) > REACH as f64 && from + 1 < self.place.len() {
                    from += 1;
                }
                from
            };
            heights.push(at(place, advance(place)));
            if let Some(next) = self.place.get(bin + 1) {
                let middle = place / 2.0 + next / 2.0;
                gaps.push(at(middle, advance(middle)));
            }
        }
        Ok((heights, gaps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::describe::modality::mvalue::shortest_half;

    fn of(values: &[f64]) -> Option<Valley> {
        deepest(values, shortest_half(values), 0.0, &|| false).expect("not interrupted")
    }

    #[test]
    fn two_groups_have_all_of_a_valley() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i) + if i < 64 { 0.0 } else { 1e6 }).collect();
        let found = of(&values).expect("they have a spread");
        assert!(found.depth > 1.0 && found.left == 64, "{found:?}");
        assert!(found.peaks[0].end <= 64 && found.peaks[1].start >= 64);
    }

    #[test]
    fn a_peak_so_far_away_that_it_has_no_width_is_one() {
        let mut values: Vec<f64> = (0..60).map(f64::from).collect();
        values.extend([1e300; 40]);
        let found = of(&values).expect("they have a spread");
        assert_eq!((found.left, &found.peaks[1]), (60, &(60..100)));
    }

    #[test]
    fn places_beyond_every_number_of_bins_are_one() {
        let mut values: Vec<f64> = (0..60).map(|i| f64::from(i) * 1e-300).collect();
        values.extend([1e150, 2e150]);
        let found = of(&values).expect("they have a spread");
        assert!(found.depth.is_finite() && found.peaks.iter().all(|peak| !peak.is_empty()), "{found:?}");
    }

    #[test]
    fn values_out_of_order_only_count_for_nothing() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100)).collect();
        assert!(deepest(&values, 1.0, 0.0, &|| false).is_ok());
        let bins = Bins { place: vec![0.0, 900.0, 1.0, 800.0, 2.0], first: vec![0, 1, 2, 3, 4, 5] };
        assert!(bins.densities(&|| false).is_ok_and(|(heights, _)| heights.iter().all(|height| height.is_finite())));
    }

    #[test]
    fn even_samples_and_equal_ones_have_none_that_counts() {
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!(of(&even).expect("they have a spread").depth < 0.5);
        assert_eq!(of(&[3.0; 10]), None);
        assert_eq!(of(&[3.0]), None);
    }
}
