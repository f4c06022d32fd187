//! A series as distances from its mean, made block by block where it is read.

use crate::error::Result;
use crate::stats::samples::{Sample, check};

/// Summed between two questions of whether to go on: a few milliseconds.
const PIECE: usize = 1 << 20;
/// Independent accumulators, in an order that no compiler may change.
const LANES: usize = 8;

/// Samples, and a function for each: no copy of them is kept.
#[derive(Clone, Copy)]
pub(super) struct Centred<'a, T> {
    samples: &'a [T],
    scale: (f64, f64),
    /// The first value: distances from it keep the digits of samples that are large and close together.
    origin: f64,
    /// The mean of those distances.
    mean: f64,
}

impl<'a, T: Sample + Copy> Centred<'a, T> {
    /// Returns the distances of `samples` from their mean, whose magnitudes are at most `largest`.
    ///
    /// They are taken times a power of two first, so that products neither overflow nor vanish; correlations do not change.
    pub(super) fn new(samples: &'a [T], largest: f64, interrupted: &dyn Fn() -> bool) -> Result<Self> {
        let exponent = if largest > 0.0 { -largest.log2().floor() as i32 } else { 0 };
        // Two factors, since one that lifts the smallest number there is would be infinite.
        let scale = (2.0_f64.powi(exponent / 2), 2.0_f64.powi(exponent - exponent / 2));
        let mut centred = Self { samples, scale, origin: 0.0, mean: 0.0 };
        centred.origin = samples.first().map_or(0.0, |&first| centred.distance(first));
        centred.mean = centred.average(interrupted)?;
        Ok(centred)
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Fills `block` with the distances from `start` on, and with zeros beyond the last sample.
    pub(super) fn read(&self, start: usize, block: &mut [f64]) {
        let samples = &self.samples[start.min(self.samples.len())..];
        let there = samples.len().min(block.len());
        let (values, beyond) = block.split_at_mut(there);
        for (value, sample) in values.iter_mut().zip(samples) {
            *value = self.distance(*sample) - self.mean;
        }
        beyond.fill(0.0);
    }

    #[inline]
    fn distance(&self, sample: T) -> f64 {
        sample.value() * self.scale.0 * self.scale.1 - self.origin
    }

    fn average(&self, interrupted: &dyn Fn() -> bool) -> Result<f64> {
        let mut sum = 0.0;
        for piece in self.samples.chunks(PIECE) {
            check(interrupted)?;
            let (groups, rest) = piece.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            for group in groups {
                lanes.iter_mut().zip(group).for_each(|(lane, &sample)| *lane += self.distance(sample));
            }
            sum += lanes.iter().sum::<f64>();
            sum += rest.iter().map(|&sample| self.distance(sample)).sum::<f64>();
        }
        Ok(sum / self.samples.len().max(1) as f64)
    }
}
