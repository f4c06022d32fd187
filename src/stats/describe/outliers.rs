//! Outliers by Tukey's fences, and whether they come alone or in runs.

use super::extremes::PART;
use super::quantiles::{QuantileMethod, quantiles};
use crate::error::Result;
use crate::memory::Room as _;
use crate::results::result;
use crate::stats::samples::{BLOCK, Sample, check};

/// Number of samples in a group: most groups of ordinary samples have no outlier.
const GROUP: usize = 32;

result! {
    /// Result of `outliers`.
    ///
    /// Fences are in the unit of the samples; a sample on a fence is within it.
    pub struct Outliers {
        /// Number of samples.
        pub count: usize,
        /// Number of samples below the low outer fence.
        pub low_severe: usize,
        /// Number of samples below the low inner fence, but not the outer one.
        pub low_mild: usize,
        /// Number of samples that are not outliers.
        pub inside: usize,
        /// Number of samples above the high inner fence, but not the outer one.
        pub high_mild: usize,
        /// Number of samples above the high outer fence.
        pub high_severe: usize,
        /// First quartile less 3 interquartile ranges.
        pub low_outer_fence: f64,
        /// First quartile less 1.5 interquartile ranges.
        pub low_inner_fence: f64,
        /// Third quartile and 1.5 interquartile ranges.
        pub high_inner_fence: f64,
        /// Third quartile and 3 interquartile ranges.
        pub high_outer_fence: f64,
        /// Each stretch of neighbouring outliers: (position of the first, counted from 0; how many).
        pub runs: Vec<(usize, usize)>,
        /// Number of outliers in the longest run; 0 without any.
        pub longest_run: usize,
    }
}

/// Sorts `samples` into Tukey's classes: inside, mild (beyond 1.5 interquartile ranges from the quartiles) and severe (beyond
/// 3), after *Exploratory Data Analysis* (1977), with quartiles that interpolate linearly between order statistics.
///
/// The order of the samples matters for the runs. Fewer than four samples have no outliers; nor have equal ones. Where both
/// quartiles are the same, everything else is severe. A fence that a float cannot hold is the largest or smallest float.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; `interrupted`.
pub fn outliers<T: Sample>(samples: &[T], interrupted: &dyn Fn() -> bool) -> Result<Outliers> {
    let quartiles = quantiles(samples, &[0.25, 0.75], QuantileMethod::Linear, interrupted)?;
    let (q1, q3) = (quartiles[0], quartiles[1]);
    let mut found = Outliers {
        count: samples.len(),
        low_severe: 0,
        low_mild: 0,
        inside: 0,
        high_mild: 0,
        high_severe: 0,
        low_outer_fence: fence(q1, q3, 3.0),
        low_inner_fence: fence(q1, q3, 1.5),
        high_inner_fence: fence(q3, q1, 1.5),
        high_outer_fence: fence(q3, q1, 3.0),
        runs: Vec::new(),
        longest_run: 0,
    };
    let mut place = T::Place::default();
    for (number, block) in samples.chunks(BLOCK).enumerate() {
        if number.is_multiple_of(PART / BLOCK) {
            check(interrupted)?;
        }
        for (group, values) in T::still(block, &mut place).chunks(GROUP).enumerate() {
            if values.iter().fold(false, |any, sample| any | found.is_outside(sample.value())) {
                found.class_each(values, number * BLOCK + group * GROUP);
            }
        }
    }
    found.inside = found.count - found.low_severe - found.low_mild - found.high_mild - found.high_severe;
    found.longest_run = found.runs.iter().map(|&(_, length)| length).max().unwrap_or(0);
    Ok(found)
}

impl Outliers {
    fn is_outside(&self, value: f64) -> bool {
        !(self.low_inner_fence..=self.high_inner_fence).contains(&value)
    }

    fn class_each<T: Sample>(&mut self, values: &[T], first: usize) {
        for (position, value) in (first..).zip(values.iter().map(Sample::value)) {
            if !self.is_outside(value) {
                continue;
            }
            let class = if value < self.low_outer_fence {
                &mut self.low_severe
            } else if value < self.low_inner_fence {
                &mut self.low_mild
            } else if value > self.high_outer_fence {
                &mut self.high_severe
            } else {
                &mut self.high_mild
            };
            *class += 1;
            match self.runs.last_mut() {
                Some((begin, length)) if *begin + *length == position => *length += 1,
                _ => self.runs.put((position, 1)),
            }
        }
    }
}

/// So many interquartile ranges beyond the quartile `near`, away from the other one.
fn fence(near: f64, far: f64, ranges: f64) -> f64 {
    let fence = near + (near - far) * ranges;
    if fence.is_finite() {
        return fence;
    }
    // Again where nothing overflows: a huge range from a huge quartile may well end among the floats.
    let eighth = near / 8.0 + (near / 8.0 - far / 8.0) * ranges;
    (eighth * 8.0).clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_stay_among_the_floats() {
        let found = outliers(&[f64::MIN, f64::MAX, f64::MIN, f64::MAX], &|| false).expect("sound samples");
        assert_eq!((found.low_outer_fence, found.high_outer_fence, found.inside), (f64::MIN, f64::MAX, 4));
        // 1.5 interquartile ranges overflow here, their sum with the quartile does not.
        let (q1, q3) = (f64::MIN, f64::MAX * -0.3);
        assert!((fence(q3, q1, 1.5) / f64::MAX - 0.75).abs() < 1e-12);
    }
}
