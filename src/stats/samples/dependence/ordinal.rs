//! Dependence as far as it concerns the order of samples, whatever their distribution.

use super::centred::Centred;
use super::time::Time;
use crate::error::Result;
use crate::memory;
use crate::stats::samples::check;

/// Scores made between two questions of whether to go on: a few milliseconds.
const PIECE: usize = 1 << 20;
/// Number of cuts that divide the samples into eight groups of equal size.
const CUTS: usize = 7;

/// The ranks of the octiles of `n` samples, counted from 0.
pub fn octile_ranks(n: usize) -> [usize; CUTS] {
    std::array::from_fn(|cut| ((cut + 1) * n / (CUTS + 1)).min(n - 1))
}

/// -1, 0 or 1 for each sample: below the centre, on it, above.
pub(super) fn signs(samples: &[f64], centre: f64) -> Vec<f32> {
    memory::collected(samples.iter().map(|&sample| sign(sample, centre)))
}

/// The autocorrelation time of samples as far as a median feels it, given their median and the values at [`octile_ranks`].
///
/// It is the larger of two: that of the signs of the distances from the median, which is the one that the median's variance
/// follows, and that of the number of octiles below each sample. The first is noisy, since a sign says little, and is then
/// often too small; the second is steadier. By simulation, intervals with the first alone cover 88 % where those with both
/// cover 92 (nominal 95; autoregression with .8, 100 samples), and are 3 % narrower for independent samples.
///
/// # Errors
/// An interruption.
pub fn median_autocorrelation_time(
    samples: &[f64],
    median: f64,
    octiles: &[f64; CUTS],
    interrupted: &dyn Fn() -> bool,
) -> Result<f64> {
    let mut scores = memory::filled(0.0, samples.len());
    let octiles_below = |sample| octiles.iter().map(|&cut| sign(sample, cut)).sum();
    let by_octile = time(samples, &mut scores, CUTS as f64, octiles_below, interrupted)?;
    let by_sign = time(samples, &mut scores, 1.0, |sample| sign(sample, median), interrupted)?;
    Ok(by_octile.max(by_sign))
}

/// The autocorrelation time of the scores of samples, which are at most `largest`; `scores` has room for them.
fn time(
    samples: &[f64],
    scores: &mut [f32],
    largest: f64,
    score: impl Fn(f64) -> f32,
    interrupted: &dyn Fn() -> bool,
) -> Result<f64> {
    for (scores, samples) in scores.chunks_mut(PIECE).zip(samples.chunks(PIECE)) {
        check(interrupted)?;
        scores.iter_mut().zip(samples).for_each(|(place, &sample)| *place = score(sample));
    }
    Ok(Time::of(Centred::new(scores, largest, interrupted)?, interrupted)?.samples)
}

#[inline]
fn sign(sample: f64, cut: f64) -> f32 {
    f32::from(i8::from(sample > cut) - i8::from(sample < cut))
}
