//! The interval of a median from samples of one process.

use super::IntervalMethod;
use super::position::lower_end;
use crate::error::Result;
use crate::memory;
use crate::results::result;
use crate::stats::samples::dependence::{median_autocorrelation_time, octile_ranks};
use crate::stats::samples::{Moments, check, confidence_level as check_level, finite, order_statistics};

result! {
    /// Result of `median_ci`. Values are in the unit of the samples.
    pub struct MedianInterval {
        /// The median.
        pub estimate: f64,
        /// Lower end of its interval; None where there are too few samples for the level.
        pub ci_low: Option<f64>,
        /// Upper end of its interval; None where there are too few samples for the level.
        pub ci_high: Option<f64>,
        /// The level that the interval was asked to hold.
        pub confidence_level: f64,
        /// `hettmansperger_sheather` for independent samples, `hettmansperger_sheather_effective` for others, `sample_range`
        /// where n_effective is too small for the level; None without an interval.
        pub ci_method: Option<IntervalMethod>,
        /// Number of samples.
        pub count: usize,
        /// Effective sample size; n for independent samples.
        pub n_effective: f64,
        /// Always True: the interval does not include differences between processes.
        pub within_one_process: bool,
    }
}

/// Computes the median and its interval by interpolated order statistics.
///
/// Of `independent` samples it is the interval of Hettmansperger and Sheather (1986), whatever their distribution. Others are
/// taken for as many independent ones as they amount to (see [`median_autocorrelation_time`]): where the lower end would stand
/// in that smaller number, as a share of it, it stands in all of them. Where that number is too small for the level, the
/// interval is the range of the samples, and its method says so; if even their own number is too small, there is no interval.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; a level outside (0, 1); an interruption.
pub fn median_ci(
    samples: &[f64],
    confidence_level: f64,
    independent: bool,
    interrupted: &dyn Fn() -> bool,
) -> Result<MedianInterval> {
    check_level(confidence_level)?;
    finite("samples", samples, 1)?;
    check(interrupted)?;
    let n = samples.len();
    let ordered = Ordered::of(samples);
    let middle = (n - 1) as f64 / 2.0;
    let estimate = ordered.at(&[middle], interrupted)?[0];
    let time = if independent || ordered.range.0 >= ordered.range.1 {
        1.0
    } else {
        let octiles = ordered.at(&octile_ranks(n).map(|rank| rank as f64), interrupted)?;
        median_autocorrelation_time(samples, estimate, &octiles, interrupted)?
    };
    let n_effective = n as f64 / time;
    let independent_end = lower_end(n as f64, confidence_level);
    let end = lower_end(n_effective, confidence_level).zip(independent_end).map(|(end, narrowest)| {
        let method = if independent {
            IntervalMethod::HettmanspergerSheather
        } else {
            IntervalMethod::HettmanspergerSheatherEffective
        };
        // The interpolation is not quite regular between whole numbers; dependence never makes an interval narrower.
        let end = middle - ((n_effective - 1.0) / 2.0 - end) * time;
        (end.min(narrowest).max(0.0), method)
    });
    // What depends so much that it says too little still has a range, and nothing wider can be had of it.
    let end = end.or_else(|| independent_end.map(|_| (0.0, IntervalMethod::SampleRange)));
    let ends = end.map(|(place, _)| ordered.at(&[place, (n - 1) as f64 - place], interrupted)).transpose()?;
    // Rounding of the interpolation may pass the median by the last digit.
    let ci = ends.map(|[low, high]| (low.min(estimate), high.max(estimate)));
    Ok(MedianInterval {
        estimate,
        ci_low: ci.map(|(low, _)| low),
        ci_high: ci.map(|(_, high)| high),
        confidence_level,
        ci_method: end.map(|(_, method)| method),
        count: n,
        n_effective,
        within_one_process: true,
    })
}

/// Samples by rank: few are sorted once; of many, only the requested ones are selected.
struct Ordered<'a> {
    samples: &'a [f64],
    range: (f64, f64),
    sorted: Option<Vec<f64>>,
}

impl<'a> Ordered<'a> {
    /// Number of samples up to which a sort is faster than several selections.
    const FEW: usize = 4096;

    fn of(samples: &'a [f64]) -> Self {
        let sorted = (samples.len() <= Self::FEW).then(|| {
            let mut sorted = memory::copied(samples);
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        });
        let range = match sorted.as_deref() {
            Some([low, .., high]) => (*low, *high),
            _ => Moments::extremes(samples),
        };
        Self { samples, range, sorted }
    }

    /// The values at `places`, counted from 0; between two samples a mixture of both.
    fn at<const N: usize>(&self, places: &[f64; N], interrupted: &dyn Fn() -> bool) -> Result<[f64; N]> {
        let last = self.samples.len() - 1;
        let between = places.map(|place| (place.floor() as usize, (place.floor() as usize + 1).min(last)));
        let mut ranks: Vec<usize> = memory::collected(between.iter().flat_map(|&(below, above)| [below, above]));
        ranks.sort_unstable();
        ranks.dedup();
        let values = match &self.sorted {
            Some(sorted) => ranks.iter().map(|&rank| sorted[rank]).collect(),
            None => order_statistics(self.samples, std::convert::identity, self.range, &ranks, interrupted)?,
        };
        // Each rank looked up was put in above.
        let value = |rank: usize| values[ranks.partition_point(|&other| other < rank)];
        Ok(std::array::from_fn(|i| mixture(value(between[i].0), value(between[i].1), places[i].fract())))
    }
}

#[allow(clippy::float_cmp, reason = "equality is the point: ties are given back exactly")]
fn mixture(below: f64, above: f64, share: f64) -> f64 {
    // Not the distance of both times the share: it overflows for huge values.
    if below == above { below } else { below * (1.0 - share) + above * share }
}
