//! Quantiles by each of the nine definitions of Hyndman and Fan, from a few order statistics.

use super::extremes::extremes;
use crate::error::{Result, words};
use crate::memory;
use crate::stats::samples::{Sample, order_statistics, probabilities as check_probabilities};

words! {
    /// Definition of a quantile: Hyndman and Fan, *Sample Quantiles in Statistical Packages* (The American Statistician 50,
    /// 1996), whose numbers are given.
    pub enum QuantileMethod {
        /// 1: the inverse of the empirical distribution function, a sample always.
        InvertedCdf = "inverted_cdf",
        /// 2: the same, with the mean of both neighbours where the function is flat.
        AveragedInvertedCdf = "averaged_inverted_cdf",
        /// 3: the sample nearest to n·p; of two equally near ones, that of even rank.
        ClosestObservation = "closest_observation",
        /// 4: between the points of the empirical distribution function.
        InterpolatedInvertedCdf = "interpolated_inverted_cdf",
        /// 5: between points in the middle of each step.
        Hazen = "hazen",
        /// 6: the k-th sample is at the mean k/(n + 1) of its rank.
        Weibull = "weibull",
        /// 7: where the smallest and the largest sample are the ends.
        Linear = "linear",
        /// 8: about unbiased for the median, whatever the distribution.
        MedianUnbiased = "median_unbiased",
        /// 9: about unbiased for samples of a normal distribution.
        NormalUnbiased = "normal_unbiased",
    }
}

impl QuantileMethod {
    /// Returns the place of the quantile of `p` among `n` sorted values.
    ///
    /// The arithmetic is numpy's, operation by operation: whether n·p is a whole number decides the first three.
    pub(super) fn place(self, p: f64, n: usize) -> Place {
        let count = n as f64;
        let plotted = |alpha: f64, beta: f64| Place::at(count * p + (alpha + p * (1.0 - alpha - beta)) - 1.0, n);
        match self {
            Self::InvertedCdf => Place::at((count * p - 1.0).ceil(), n),
            Self::AveragedInvertedCdf => {
                let place = count * p - 1.0;
                if place.fract() == 0.0 { Place::at(place + 0.5, n) } else { Place::at(place.ceil(), n) }
            }
            Self::ClosestObservation => {
                let place = count * p - 1.0 - 0.5;
                let is_tie = place.fract() == 0.0 && (place as i64).rem_euclid(2) == 1;
                Place::at(if is_tie { place } else { place.floor() + 1.0 }, n)
            }
            Self::InterpolatedInvertedCdf => plotted(0.0, 1.0),
            Self::Hazen => plotted(0.5, 0.5),
            Self::Weibull => plotted(0.0, 0.0),
            Self::Linear => Place::at(p * (n - 1) as f64, n),
            Self::MedianUnbiased => plotted(1.0 / 3.0, 1.0 / 3.0),
            Self::NormalUnbiased => plotted(3.0 / 8.0, 3.0 / 8.0),
        }
    }
}

/// Place of a quantile between two neighbouring ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) below: usize,
    pub(super) above: usize,
    fraction: f64,
}

impl Place {
    fn at(place: f64, n: usize) -> Self {
        let place = place.clamp(0.0, (n - 1) as f64);
        let below = place.floor() as usize;
        Self { below, above: place.ceil() as usize, fraction: place - below as f64 }
    }

    /// The value there, given those at both ranks.
    #[allow(clippy::float_cmp, reason = "equality is the point: it spares infinite and tiny ranges the arithmetic")]
    pub(super) fn value(self, below: f64, above: f64) -> f64 {
        // Equal neighbours give themselves exactly; so does an end, whatever the other one is.
        if self.fraction == 0.0 || below == above {
            return below;
        }
        let apart = above - below;
        if apart.is_finite() {
            below + apart * self.fraction
        } else {
            // Of opposite signs, so that no sum of shares overflows.
            below * (1.0 - self.fraction) + above * self.fraction
        }
    }
}

/// The quantile of each probability, in their order, without sorting the samples.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; a probability outside [0, 1], by position; `interrupted`.
pub fn quantiles<T: Sample>(
    samples: &[T],
    probabilities: &[f64],
    method: QuantileMethod,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    check_probabilities("probabilities", probabilities)?;
    let range = extremes(samples, interrupted)?;
    let places: Vec<Place> = memory::collected(probabilities.iter().map(|&p| method.place(p, samples.len())));
    let mut ranks: Vec<usize> = memory::collected(places.iter().flat_map(|place| [place.below, place.above]));
    ranks.sort_unstable();
    ranks.dedup();
    let values = order_statistics(samples, std::convert::identity, range, &ranks, interrupted)?;
    // Each rank looked up was put in above.
    let at = |rank: usize| values[ranks.partition_point(|&other| other < rank)];
    Ok(places.iter().map(|place| place.value(at(place.below), at(place.above))).collect())
}
