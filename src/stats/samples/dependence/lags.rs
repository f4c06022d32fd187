//! Sums of products of a series with itself some steps later.

use rustfft::algorithm::Radix4;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection};

use super::centred::Centred;
use crate::error::Result;
use crate::memory;
use crate::simd::{Kernel, vectorised};
use crate::stats::samples::{Sample, check};

/// 32 KiB of `f64`, which a second-level cache keeps together with later data.
const BLOCK: usize = 4096;
/// Independent accumulators, in an order that no compiler may change.
const LANES: usize = 16;
/// From so many lags on transforms are quicker than products one by one.
const MANY: usize = 256;
/// Largest number of lags of one round of transforms, which limits the memory (some tens of MiB).
const MOST: usize = 1 << 17;
/// Products between two questions of whether to go on: a few milliseconds.
const PATIENCE: usize = 1 << 24;

/// The sums over t of d(t)·d(t + lag), for `count` lags from `first` on.
pub(super) fn products<T: Sample + Copy>(
    series: Centred<'_, T>,
    first: usize,
    count: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    if count < MANY {
        return directly(series, first, count, interrupted);
    }
    let mut found = memory::list(count);
    while found.len() < count {
        let round = (count - found.len()).min(MOST);
        found.extend(transformed(series, first + found.len(), round, interrupted)?);
    }
    Ok(found)
}

fn directly<T: Sample + Copy>(
    series: Centred<'_, T>,
    first: usize,
    count: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    let block = BLOCK.min(series.len());
    let (mut now, mut later) = (memory::filled(0.0, block), memory::filled(0.0, block + count));
    let mut sums = memory::filled(0.0, count);
    let mut since = PATIENCE;
    for start in (0..series.len().saturating_sub(first)).step_by(BLOCK) {
        if since >= PATIENCE {
            check(interrupted)?;
            since = 0;
        }
        since += BLOCK * count;
        let there = BLOCK.min(series.len() - start);
        series.read(start, &mut now[..there]);
        series.read(start + first, &mut later[..there + count]);
        vectorised(Products { now: &now[..there], later: &later, sums: &mut sums });
    }
    Ok(sums)
}

/// Adds the products of `now` with `later` shifted by each lag.
struct Products<'a> {
    now: &'a [f64],
    later: &'a [f64],
    sums: &'a mut [f64],
}

#[allow(clippy::inline_always, reason = "it is to be compiled into what chooses the instructions")]
impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (lag, sum) in self.sums.iter_mut().enumerate() {
            let (groups, rest) = self.now.as_chunks::<LANES>();
            let later = &self.later[lag..lag + self.now.len()];
            let (later_groups, later_rest) = later.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            for (one, other) in groups.iter().zip(later_groups) {
                for lane in 0..LANES {
                    lanes[lane] += one[lane] * other[lane];
                }
            }
            *sum += lanes.iter().sum::<f64>();
            *sum += rest.iter().zip(later_rest).map(|(one, other)| one * other).sum::<f64>();
        }
    }
}

/// The same by the convolution theorem: the spectra of overlapping blocks are multiplied and summed, and go back once.
fn transformed<T: Sample + Copy>(
    series: Centred<'_, T>,
    first: usize,
    count: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    let left = series.len().saturating_sub(first);
    // Blocks of three times the lags waste a quarter; a short series needs no more than itself.
    let size = (4 * count).min(left + count).next_power_of_two();
    let fresh = size + 1 - count;
    // Not by a planner, which has every algorithm for every length and both widths compiled. Its factors take as long as
    // several transforms, so those of one direction serve both.
    let transform = Radix4::new(size, FftDirection::Forward);
    let (mut now, mut later) = (memory::filled(0.0, fresh), memory::filled(0.0, size));
    let mut both = memory::filled(Complex::default(), size);
    let mut spectrum = memory::filled(Complex::default(), size);
    let mut scratch = memory::filled(Complex::default(), transform.get_inplace_scratch_len());
    for start in (0..left).step_by(fresh) {
        check(interrupted)?;
        // One complex transform does both: what is `now` is its real part. Nothing wraps round: `later` is longer by the lags.
        series.read(start, &mut now);
        series.read(start + first, &mut later);
        let reals = now.iter().copied().chain(std::iter::repeat(0.0));
        for (both, (re, &im)) in both.iter_mut().zip(reals.zip(&later)) {
            *both = Complex { re, im };
        }
        transform.process_with_scratch(&mut both, &mut scratch);
        for (place, product) in spectrum.iter_mut().enumerate() {
            let (here, opposite) = (both[place], both[(size - place) % size].conj());
            // Half the sum is the spectrum of `now`; half the difference, over i, that of `later`. This is minus the conjugate
            // of their product. Its forward transform has the same imaginary part as the inverse transform of the product.
            *product += (here + opposite) * (opposite - here).conj();
        }
    }
    transform.process_with_scratch(&mut spectrum, &mut scratch);
    // The quarters of both halves, the i, and the size that going back multiplies by.
    let scale = 4.0 * size as f64;
    Ok(memory::collected(spectrum[..count].iter().map(|sum| sum.im / scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_transforms_join() {
        let samples: Vec<f64> = (0..MOST + 5000).map(|i| (i.wrapping_mul(2_654_435_761) % 1009) as f64).collect();
        let series = Centred::new(&samples, 1009.0, &|| false).expect("not interrupted");
        let found = products(series, 0, samples.len(), &|| false).expect("not interrupted");
        assert_eq!(found.len(), samples.len());
        for lag in [0, 1, MOST - 1, MOST, MOST + 1, samples.len() - 1] {
            let expected = directly(series, lag, 1, &|| false).expect("not interrupted")[0];
            assert!((found[lag] - expected).abs() < 1e-9 * found[0], "{lag}");
        }
    }
}
