//! Mean, variance and extremes in one pass over memory.
//!
//! Blocks small enough for the first-level cache are read again and again (the sum, the extremes, the squared deviations
//! from the block's own mean) and merged by the pairwise update of Chan, Golub and LeVeque (1983). That is as exact as two
//! passes over everything and costs one pass of bandwidth.
#![allow(clippy::inline_always, reason = "what a kernel calls is compiled with the vectors of the kernel")]

use super::check;
use super::sample::{BLOCK, Sample};
use crate::error::{Error, Result};
use crate::par;
use crate::simd::{Kernel, vectorised};

/// Some milliseconds of work, between which the caller is asked.
const PIECE: usize = 1 << 22;
/// Independent accumulators, four of the widest vectors: an addition takes four cycles, and one can begin in each.
const LANES: usize = 32;

/// Count, mean, sum of squared deviations and extremes, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Number of samples.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Rounding error of the mean: without it, the difference of two means loses the digits that they share.
    residue: f64,
    /// Sum of the squared deviations from the mean.
    pub squared_deviations: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// The moments of `samples`, the same bits on every processor and any number of threads.
///
/// Deviations below some 1e-162 have squares that a float rounds to zero, and so count as none.
///
/// # Errors
/// No samples; a NaN or an infinity, named by position; values whose squares overflow; an interruption.
pub fn moments<T: Sample>(samples: &[T], interrupted: &dyn Fn() -> bool) -> Result<Moments> {
    const ARGUMENT: &str = "samples";
    let all = if samples.len() <= PIECE {
        if samples.is_empty() {
            return Err(Error::Empty { argument: ARGUMENT });
        }
        vectorised(Piece(samples))
    } else {
        in_pieces(samples, interrupted)?
    };
    // A NaN or an infinity anywhere ends up in the mean, so the ordinary case pays for no check of its own.
    if all.mean.is_finite() && all.squared_deviations.is_finite() {
        return Ok(all);
    }
    let offender = samples.iter().map(Sample::value).enumerate().find(|(_, value)| !value.is_finite());
    Err(match offender {
        Some((position, value)) => Error::NotFinite { argument: ARGUMENT, position, value },
        None => Error::Overflow { argument: ARGUMENT },
    })
}

/// The same for many: pieces on several threads, one of which cannot have all of the memory's bandwidth, merged in their order.
fn in_pieces<T: Sample>(samples: &[T], interrupted: &dyn Fn() -> bool) -> Result<Moments> {
    let work = |piece, interrupted: &dyn Fn() -> bool| check(interrupted).map(|()| vectorised(Piece(piece)));
    let pieces = par::map(samples.chunks(PIECE), interrupted, work);
    let mut pieces = pieces.into_iter();
    let first = pieces.next().expect("many samples have a piece")?;
    pieces.try_fold(first, |all, piece| Ok(all.merge(piece?)))
}

impl Moments {
    /// The moments of `samples`, where nothing need ask meanwhile: a hundred million take some hundredths of a second.
    pub(crate) fn of<T: Sample>(samples: &[T]) -> Result<Self> {
        moments(samples, &|| false)
    }

    /// With the divisor n − 1; `None` for a single value.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squared_deviations / (self.count - 1) as f64)
    }

    /// The root of the variance.
    pub fn stddev(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// The smallest and the largest of `samples`; the other way round, both infinite, of none.
    pub(crate) fn extremes(samples: &[f64]) -> (f64, f64) {
        vectorised(Extremes(samples))
    }

    #[inline(always)]
    fn of_block<T: Sample>(block: &[T]) -> Self {
        let count = block.len();
        // Summing distances from one of the values keeps the digits of samples that are large and close together.
        let origin = block[0].value();
        let (mean, residue) = two_sum(origin, sum(block, |value| value - origin) / count as f64);
        let (min, max) = extremes(block);
        let around = sum(block, |value| (value - mean) * (value - mean)) - count as f64 * residue * residue;
        Self {
            count,
            mean,
            residue,
            // An overflow stays infinite, so that it is detected.
            squared_deviations: if around < 0.0 { 0.0 } else { around },
            min,
            max,
        }
    }

    #[inline(always)]
    fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        let share = other.count as f64 / count as f64;
        let apart = (other.mean - self.mean) + (other.residue - self.residue);
        let (mean, residue) = two_sum(self.mean, self.residue + apart * share);
        Self {
            count,
            mean,
            residue,
            squared_deviations: self.squared_deviations
                + other.squared_deviations
                + apart * apart * self.count as f64 * share,
            min: smaller(other.min, self.min),
            max: larger(other.max, self.max),
        }
    }
}

/// Returns the sum as a float, and its rounding error (Knuth, *The Art of Computer Programming*, volume 2, section 4.2.2).
#[inline(always)]
fn two_sum(one: f64, other: f64) -> (f64, f64) {
    let sum = one + other;
    let rest = sum - one;
    (sum, (one - (sum - rest)) + (other - rest))
}

/// The moments of a few million samples, of one at least.
struct Piece<'a, T>(&'a [T]);

// Also of values that can only be read.
impl<T> Clone for Piece<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<T: Sample> Kernel for Piece<'_, T> {
    type Output = Moments;

    #[inline(always)]
    fn run(self) -> Moments {
        let mut place = T::Place::default();
        let (first, rest) = self.0.split_at(BLOCK.min(self.0.len()));
        let mut all = Moments::of_block(T::still(first, &mut place));
        for block in rest.chunks(BLOCK) {
            all = all.merge(Moments::of_block(T::still(block, &mut place)));
        }
        all
    }
}

/// The extremes alone.
#[derive(Clone)]
struct Extremes<'a>(&'a [f64]);

impl Kernel for Extremes<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        extremes(self.0)
    }
}

#[inline(always)]
fn sum<T: Sample>(block: &[T], term: impl Fn(f64) -> f64) -> f64 {
    let (groups, rest) = block.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for group in groups {
        for (lane, sample) in lanes.iter_mut().zip(group) {
            *lane += term(sample.value());
        }
    }
    for (lane, sample) in lanes.iter_mut().zip(rest) {
        *lane += term(sample.value());
    }
    across(lanes, |one, other| one + other)
}

#[inline(always)]
fn extremes<T: Sample>(block: &[T]) -> (f64, f64) {
    let (groups, rest) = block.as_chunks::<LANES>();
    let (mut lows, mut highs) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for group in groups {
        for ((low, high), sample) in lows.iter_mut().zip(&mut highs).zip(group) {
            *low = smaller(sample.value(), *low);
            *high = larger(sample.value(), *high);
        }
    }
    for ((low, high), sample) in lows.iter_mut().zip(&mut highs).zip(rest) {
        *low = smaller(sample.value(), *low);
        *high = larger(sample.value(), *high);
    }
    (across(lows, smaller), across(highs, larger))
}

/// All lanes joined, halves first: one after another they would wait for each other.
#[inline(always)]
fn across(mut lanes: [f64; LANES], join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

// Not `f64::min`, whose care for NaN costs an instruction (a NaN is found through the mean), and which leaves it open
// which of two zeros is the smaller.
#[inline(always)]
fn smaller(value: f64, than: f64) -> f64 {
    if value < than { value } else { than }
}

#[inline(always)]
fn larger(value: f64, than: f64) -> f64 {
    if value > than { value } else { than }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::on_every_path;
    use crate::stats::samples::random::Stream;

    fn bits(found: Moments) -> [u64; 6] {
        let Moments { count, mean, residue, squared_deviations, min, max } = found;
        let floats = [mean, residue, squared_deviations, min, max].map(f64::to_bits);
        [count as u64, floats[0], floats[1], floats[2], floats[3], floats[4]]
    }

    fn same_on_every_path<T: Sample>(samples: &[T]) {
        let found = on_every_path(&Piece(samples));
        assert!(found.iter().all(|(_, one)| bits(*one) == bits(found[0].1)), "n = {}: {found:?}", samples.len());
    }

    #[test]
    fn every_path_gives_the_same_bits() {
        let mut stream = Stream::new(5, 0);
        for n in [1, 2, 31, 32, 33, 2047, 2048, 2049, 100_003] {
            same_on_every_path(&(0..n).map(|_| (stream.unit() - 0.5) * 1e3).collect::<Vec<f64>>());
            same_on_every_path(&(0..n).map(|_| stream.unit() as f32).collect::<Vec<f32>>());
            same_on_every_path(&(0..n).map(|_| stream.bits()).collect::<Vec<u64>>());
            same_on_every_path(&(0..n).map(|_| stream.bits().cast_signed()).collect::<Vec<i64>>());
            // Zeros of both signs: which one is the smallest must not depend on the path either.
            same_on_every_path(&(0..n).map(|_| if stream.bits() & 1 == 0 { 0.0 } else { -0.0 }).collect::<Vec<f64>>());
        }
    }

    #[test]
    fn blocks_far_from_zero_keep_the_digits_of_their_difference() {
        // Around 1e15 floats are 0.125 apart; a tenth of all is 1 above the rest, so that no mean is a float.
        let samples: Vec<f64> = (0..100_000).map(|i| 1e15 + f64::from(u8::from(i % 10 == 0))).collect();
        let found = Moments::of(&samples).expect("sound");
        assert!((found.squared_deviations / (100_000.0 * 0.09) - 1.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_bad_value_is_found_wherever_it_stands() {
        let mut samples = vec![1.0; 5000];
        for position in [0, 31, 2048, 4999] {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                samples[position] = value;
                let message = Moments::of(&samples).expect_err("must be refused").to_string();
                assert_eq!(message, format!("samples[{position}] is {value}; every value must be finite"));
                samples[position] = 1.0;
            }
        }
        assert_eq!(Moments::of::<f64>(&[]), Err(Error::Empty { argument: "samples" }));
        let overflows = [[f64::MAX, f64::MIN, 0.0], [1e200, 2e200, 4e200], [1e300, 1.5e300, 1e308]];
        assert!(overflows.iter().all(|samples| Moments::of(samples) == Err(Error::Overflow { argument: "samples" })));
    }
}
