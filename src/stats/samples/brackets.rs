//! Order statistics of many values in one read: a few thousand sorted values limit a wanted rank to the range between two
//! values, and only this range is read again.
//!
//! The idea is that of Floyd and Rivest (1975). Values below, at and above the two ends are counted, so that a rank outside the
//! range is detected, and no answer is a guess.
#![allow(clippy::inline_always, reason = "what a kernel calls is compiled with the vectors of the kernel")]

use super::check;
use super::sample::{BLOCK, Sample};
use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::simd::{Kernel, vectorised};
use crate::stats::samples::random::Stream;

/// Distance of the values that are sorted first, so that sorting costs little.
const STRIDE: usize = 64;
/// Largest number of such values. Their ranks are known to 0.3 %: a fiftieth of all values lies between two ends.
const MOST: usize = 1 << 15;
/// A rank is as good as never so many standard deviations from where the first look puts it.
const DEVIATIONS: f64 = 4.0;
/// Some milliseconds of work, between which the caller is asked.
const PIECE: usize = 1 << 20;
/// Number of flags in a group.
const LANES: usize = 8;

/// Samples, and a function for each.
pub(super) struct Values<'a, T, F> {
    pub(super) samples: &'a [T],
    pub(super) map: F,
}

impl<T, F: Copy> Clone for Values<'_, T, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F: Copy> Copy for Values<'_, T, F> {}

impl<T: Sample, F: Fn(f64) -> f64 + Copy> Values<'_, T, F> {
    /// The one at `position`.
    fn at(self, position: usize) -> f64 {
        (self.map)(self.samples[position].value())
    }
}

/// Some of the values, and which of them are wanted.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) values: Vec<f64>,
    pub(super) ranks: Vec<usize>,
}

impl Part {
    /// `ranks` of `values`, counted from the first of these.
    pub(super) fn new(values: Vec<f64>, ranks: Vec<usize>) -> Self {
        Self { values, ranks }
    }

    /// So many of one value.
    fn tied(value: f64, times: usize) -> Self {
        Self { values: memory::filled(value, times), ranks: memory::collected(0..times) }
    }
}

/// Two values, and how the others lie to them.
#[derive(Debug, Clone)]
struct Bracket {
    low: f64,
    high: f64,
    /// The wanted ranks that should lie from one to the other.
    ranks: Vec<usize>,
    /// Number of values below `low`, at most `low`, and at most `high`.
    counts: [usize; 3],
    /// Values strictly between the ends. Tied values count at an end and are not stored here.
    between: Vec<f64>,
}

/// Returns, for each bracket in the order of the ranks, the remaining part: `None` if a bracket missed its ranks.
pub(super) fn bracketed<T: Sample, F: Fn(f64) -> f64 + Copy>(
    values: Values<'_, T, F>,
    range: (f64, f64),
    ranks: &[usize],
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<Part>>> {
    let mut brackets = guess(values, range, ranks);
    for samples in values.samples.chunks(PIECE) {
        check(interrupted)?;
        vectorised(Piece { values: Values { samples, ..values }, brackets: &mut brackets });
    }
    Ok(brackets
        .into_iter()
        .map(Bracket::into_parts)
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.into_iter().flatten().collect()))
}

/// Brackets that should hold the ranks, from a look at a few values.
fn guess<T: Sample, F: Fn(f64) -> f64 + Copy>(
    values: Values<'_, T, F>,
    (min, max): (f64, f64),
    ranks: &[usize],
) -> Vec<Bracket> {
    let n = values.samples.len();
    let looks = (n / STRIDE).min(MOST);
    let stride = n / looks;
    // One anywhere in every stride: at regular places, a period in the values would be taken for their distribution.
    let mut stream = Stream::new(0, 0);
    let mut seen: Vec<f64> = memory::collected((0..looks).map(|look| values.at(look * stride + stream.below(stride))));
    seen.sort_unstable_by(f64::total_cmp);
    let mut brackets: Vec<Bracket> = Vec::new();
    let mut reached = 0;
    for &rank in ranks {
        let share = rank as f64 / n as f64;
        let place = (share * looks as f64) as usize;
        let slack = (DEVIATIONS * (looks as f64 * share * (1.0 - share)).sqrt()).ceil() as usize + looks.min(8);
        let high = seen.get(place + slack).copied().unwrap_or(max);
        match brackets.last_mut() {
            Some(last) if place.saturating_sub(slack) <= reached => {
                last.high = high;
                last.ranks.put(rank);
            }
            _ => {
                let low = place.checked_sub(slack).map_or(min, |place| seen[place]);
                let room = (2 * slack + 2) * stride * 5 / 4;
                let between = memory::list(room.min(n));
                brackets.push(Bracket { low, high, ranks: vec![rank], counts: [0; 3], between });
            }
        }
        reached = place + slack;
    }
    brackets
}

impl Bracket {
    /// Counts the values of one block, and keeps those between the ends.
    #[inline(always)]
    fn take<T: Sample, F: Fn(f64) -> f64 + Copy>(&mut self, values: Values<'_, T, F>, kept: &mut [f64; BLOCK]) {
        let Values { samples, map } = values;
        let (low, high) = (self.low, self.high);
        let (mut below, mut at_low, mut at_high) = (0_u64, 0_u64, 0_u64);
        for sample in samples {
            let value = map(sample.value());
            below += u64::from(value < low);
            at_low += u64::from(value <= low);
            at_high += u64::from(value <= high);
        }
        for (count, more) in self.counts.iter_mut().zip([below, at_low, at_high]) {
            *count += more as usize;
        }

        let mut between = [0_u8; BLOCK];
        for (between, sample) in between.iter_mut().zip(samples) {
            let value = map(sample.value());
            *between = u8::from(value > low) & u8::from(value < high);
        }
        // Both loops below write always, and overwrite what was not wanted: a branch would be taken at random, which costs
        // more than all the rest.
        let (mut groups, mut some) = ([0_u8; BLOCK / LANES], 0);
        for (group, flags) in between.as_chunks::<LANES>().0.iter().enumerate() {
            groups[some] = group as u8;
            some += usize::from(u64::from_ne_bytes(*flags) != 0);
        }
        let mut found = 0;
        for &group in &groups[..some] {
            let group = usize::from(group) * LANES..samples.len().min((usize::from(group) + 1) * LANES);
            for (sample, &flag) in samples[group.clone()].iter().zip(&between[group]) {
                kept[found] = map(sample.value());
                found += usize::from(flag);
            }
        }
        self.between.room(found);
        self.between.extend_from_slice(&kept[..found]);
    }

    /// Returns the parts that are left to find: the ends are known already.
    fn into_parts(self) -> Option<Vec<Part>> {
        let [below, at_low, at_high] = self.counts;
        if self.ranks.iter().any(|&rank| rank < below || rank >= at_high) {
            return None;
        }
        let inside = at_low + self.between.len();
        let low = self.ranks.iter().filter(|&&rank| rank < at_low).count();
        let high = self.ranks.iter().filter(|&&rank| rank >= inside).count();
        let middle = self.ranks.iter().filter(|&&rank| rank >= at_low && rank < inside).map(|rank| rank - at_low);
        let middle = memory::collected(middle);
        Some(vec![Part::tied(self.low, low), Part::new(self.between, middle), Part::tied(self.high, high)])
    }
}

/// Puts some values into every bracket.
struct Piece<'a, T, F> {
    values: Values<'a, T, F>,
    brackets: &'a mut [Bracket],
}

impl<T: Sample, F: Fn(f64) -> f64 + Copy> Kernel for Piece<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut kept, mut place) = ([0.0; BLOCK], T::Place::default());
        for samples in self.values.samples.chunks(BLOCK) {
            // Each is looked at several times, and must be the same each time.
            let samples = T::still(samples, &mut place);
            for bracket in &mut *self.brackets {
                bracket.take(Values { samples, map: self.values.map }, &mut kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::samples::{Moments, order_statistics};

    const N: usize = 200_000;

    fn check(values: &[f64]) {
        let n = values.len();
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let ranks = [0, 1, n / 100, n / 4, n / 2 - 1, n / 2, n / 2, n / 2 + 300, n - n / 100, n - 2, n - 1];
        let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank]).collect();
        let found = order_statistics(values, |value| value, Moments::extremes(values), &ranks, &|| false);
        assert_eq!(found, Ok(expected));
    }

    fn parts(values: &[f64], ranks: &[usize]) -> Option<Vec<Part>> {
        let range = Moments::extremes(values);
        let found = bracketed(Values { samples: values, map: std::convert::identity }, range, ranks, &|| false);
        found.expect("not interrupted")
    }

    #[test]
    fn agrees_with_a_sort_on_awkward_shapes() {
        let mut stream = Stream::new(9, 0);
        check(&(0..N).map(|_| stream.unit()).collect::<Vec<_>>());
        check(&(0..N + 77).map(|i| i as f64).collect::<Vec<_>>());
        check(&(0..N).map(|_| (stream.unit() * 6.0).floor()).collect::<Vec<_>>());
        check(&(0..N).map(|_| (1.0 - stream.unit()).recip().powi(40)).collect::<Vec<_>>());
        check(&(0..N).map(|i| if i % 64 == 0 { f64::MAX } else { -stream.unit() }).collect::<Vec<_>>());
        check(&vec![7.0; N]);
        // One value far away; ranges that a float cannot hold, and that it can hardly resolve.
        check(&(0..N).map(|i| if i == 5 { 1e300 } else { stream.unit() }).collect::<Vec<_>>());
        check(&(0..N).map(|i| if i % 2 == 0 { f64::MAX } else { f64::MIN }).collect::<Vec<_>>());
        check(&(0..N).map(|i| f64::from_bits(i as u64 % 3)).collect::<Vec<_>>());
        assert_eq!(order_statistics::<f64>(&[], |value| value, (0.0, 0.0), &[], &|| false), Ok(Vec::new()));
    }

    #[test]
    fn ties_are_not_copied() {
        let values: Vec<f64> = (0..N).map(|i| (i % 3) as f64).collect();
        let parts = parts(&values, &[N / 6, N / 2]).expect("within the brackets");
        assert!(parts.iter().map(|part| part.values.len()).sum::<usize>() <= 2);
    }

    #[test]
    fn a_misleading_sample_is_detected() {
        // Exactly the values that are looked at are larger than all the others.
        let looks = (N / STRIDE).min(MOST);
        let mut stream = Stream::new(0, 0);
        let mut values: Vec<f64> = (0..N).map(|i| (i % 1000) as f64).collect();
        (0..looks).for_each(|look| values[look * (N / looks) + stream.below(N / looks)] = 1e6);
        assert!(parts(&values, &[N / 2]).is_none());
        check(&values);
    }
}
