//! Order statistics without sorting: the k-th smallest values for a few k, in one or two reads of the data.
//!
//! Many values are narrowed down to those near the wanted ranks by a look at a few of them. What is left is counted into
//! equal-width bins between the extremes; only the bins that hold a wanted rank are gathered, and the same is done again
//! inside each. A long tail puts nearly everything into one bin, which the next round then spreads over its own narrow
//! range.

use super::brackets::bracketed;
use super::{Moments, Sample, check, sorted};
use crate::error::Result;

/// A power of two; two sets of 32-bit counters fill a first-level cache of 32 KiB.
const BINS: usize = 4096;
/// Below this many values a sort is quicker than counting.
const SORT_BELOW: usize = 1024;
/// From this many on a look at a few values first saves more than it costs.
const LOOK_FROM: usize = 1 << 16;
/// Values are binned in groups of this many, so that the arithmetic of one group runs in vectors.
const LANES: usize = 8;
/// Some milliseconds of work, between which the caller is asked; 32-bit counters cannot overflow in it.
const PIECE: usize = 1 << 20;

/// The values that would stand at `ranks` (ascending, counted from 0) if `samples`, each put through `map`, were sorted.
///
/// `map` must give values from `low` to `high`, finite all of them. What is copied are the values near the wanted ranks:
/// a few in a hundred.
///
/// # Errors
/// [`crate::error::Error::Interrupted`], if `interrupted` says so.
///
/// # Panics
/// If `ranks` does not ascend or holds one that is not below `samples.len()`.
pub fn order_statistics<T: Sample>(
    samples: &[T],
    map: impl Fn(f64) -> f64 + Copy,
    range: (f64, f64),
    ranks: &[usize],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    assert!(ranks.is_sorted(), "ranks must ascend");
    assert!(ranks.last().is_none_or(|&last| last < samples.len()), "a rank lies beyond the samples");
    let mut found = Vec::with_capacity(ranks.len());
    if ranks.is_empty() {
        return Ok(found);
    }
    let values = Values { samples, map };
    let looked = if samples.len() < LOOK_FROM { None } else { bracketed(values, range, ranks, interrupted)? };
    let parts = match looked {
        Some(parts) => parts,
        None => narrow(values, range, ranks, &mut found, interrupted)?,
    };
    parts.into_iter().try_for_each(|part| part.finish(&mut found, interrupted))?;
    Ok(found)
}

/// Samples, and what is to be made of each.
#[derive(Clone, Copy)]
pub(super) struct Values<'a, T, F> {
    pub(super) samples: &'a [T],
    pub(super) map: F,
}

impl<T: Sample, F: Fn(f64) -> f64 + Copy> Values<'_, T, F> {
    /// The one at `position`.
    pub(super) fn at(self, position: usize) -> f64 {
        (self.map)(self.samples[position].value())
    }
}

/// One round: parts the values into bins and keeps those of the wanted ones. None are left when the answers were at hand.
fn narrow<T: Sample, F: Fn(f64) -> f64 + Copy>(
    values: Values<'_, T, F>,
    (low, high): (f64, f64),
    ranks: &[usize],
    found: &mut Vec<f64>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Part>> {
    let Values { samples, map } = values;
    let read = |sample: &T| map(sample.value());
    let scale = (BINS - 1) as f64 / (high - low);
    if high <= low {
        found.extend(ranks.iter().map(|_| low));
        return Ok(Vec::new());
    }
    // A range that a float cannot hold or divide by: sorting is always right.
    if samples.len() < SORT_BELOW || !(scale > 0.0 && scale.is_finite()) {
        let sorted = sorted(samples.iter().map(read).collect(), interrupted)?;
        found.extend(ranks.iter().map(|&rank| sorted[rank]));
        return Ok(Vec::new());
    }
    let bins = Bins { low, scale };
    let counts = count(samples, |sample| bins.of(read(sample)), interrupted)?;
    let wanted = Wanted::locate(&counts, ranks);
    let gathered = gather(samples, read, bins, &counts, &wanted, interrupted)?;
    Ok(wanted.bins.into_iter().zip(gathered).map(|(bin, values)| Part::new(values, bin.ranks)).collect())
}

/// Some of the values, and which of them are wanted.
#[derive(Debug, Clone)]
pub(super) struct Part {
    values: Vec<f64>,
    ranks: Vec<usize>,
}

impl Part {
    /// `ranks` of `values`, counted from the first of these.
    pub(super) fn new(values: Vec<f64>, ranks: Vec<usize>) -> Self {
        Self { values, ranks }
    }

    /// So many of one value.
    pub(super) fn tied(value: f64, times: usize) -> Self {
        Self { values: vec![value; times], ranks: (0..times).collect() }
    }

    /// How many values are still to be looked at.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Narrows down further; each round's values are let go before the next round goes deeper.
    fn finish(self, found: &mut Vec<f64>, interrupted: &dyn Fn() -> bool) -> Result<()> {
        let parts = match self.ranks.as_slice() {
            [] => return Ok(()),
            ranks => {
                let values = Values { samples: &self.values, map: std::convert::identity };
                narrow(values, Moments::extremes(&self.values), ranks, found, interrupted)?
            }
        };
        drop(self);
        parts.into_iter().try_for_each(|part| part.finish(found, interrupted))
    }
}

/// Which bin a value falls into. Rounding is monotone: a larger value never lands in a lower bin.
#[derive(Clone, Copy)]
struct Bins {
    low: f64,
    scale: f64,
}

impl Bins {
    #[inline]
    fn of(self, value: f64) -> usize {
        // Adding 2^52 leaves the nearest whole number in the low bits of the sum: one addition, where a cast would
        // have to look for NaN and overflow, which cannot come here.
        const TO_WHOLE: f64 = (1_u64 << 52) as f64;
        ((value - self.low) * self.scale + TO_WHOLE).to_bits() as usize & (BINS - 1)
    }
}

/// Two counter sets in turn, so that neighbours in the same bin do not wait for each other's store.
fn count<T: Sample>(values: &[T], bin_of: impl Fn(&T) -> usize, interrupted: &dyn Fn() -> bool) -> Result<Vec<usize>> {
    let (mut even, mut odd) = ([0_u32; BINS], [0_u32; BINS]);
    let mut counts = vec![0_usize; BINS];
    // 32-bit counters keep both sets in the cache.
    for piece in values.chunks(PIECE) {
        check(interrupted)?;
        let (groups, rest) = piece.as_chunks::<LANES>();
        for group in groups {
            let bins = std::array::from_fn::<usize, LANES, _>(|lane| bin_of(&group[lane]));
            for pair in bins.as_chunks::<2>().0 {
                even[pair[0]] += 1;
                odd[pair[1]] += 1;
            }
        }
        for value in rest {
            even[bin_of(value)] += 1;
        }
        for ((total, even), odd) in counts.iter_mut().zip(&mut even).zip(&mut odd) {
            *total += std::mem::take(even) as usize + std::mem::take(odd) as usize;
        }
    }
    Ok(counts)
}

/// The values of each wanted bin.
fn gather<T: Sample>(
    values: &[T],
    read: impl Fn(&T) -> f64,
    bins: Bins,
    counts: &[usize],
    wanted: &Wanted,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Vec<f64>>> {
    let mut gathered: Vec<Vec<f64>> = wanted.bins.iter().map(|bin| Vec::with_capacity(counts[bin.index])).collect();
    let mut take = |value: f64, group: u16| {
        if let Some(group) = usize::from(group).checked_sub(1) {
            gathered[group].push(value);
        }
    };
    for piece in values.chunks(PIECE) {
        check(interrupted)?;
        let (groups, rest) = piece.as_chunks::<LANES>();
        for group in groups {
            let read = std::array::from_fn::<f64, LANES, _>(|lane| read(&group[lane]));
            let wanted = read.map(|value| wanted.groups[bins.of(value)]);
            // Most groups hold nothing that is wanted: one branch, seldom taken, for all of it.
            if wanted.iter().fold(0, |any, group| any | group) != 0 {
                read.into_iter().zip(wanted).for_each(|(value, group)| take(value, group));
            }
        }
        for value in rest.iter().map(&read) {
            take(value, wanted.groups[bins.of(value)]);
        }
    }
    Ok(gathered)
}

/// The bins that hold a wanted rank.
struct Wanted {
    bins: Vec<Bin>,
    /// For each bin its place in `bins` plus one, 0 for the many that hold none.
    groups: Box<[u16; BINS]>,
}

struct Bin {
    index: usize,
    /// The wanted ranks, counted from the bin's own first value.
    ranks: Vec<usize>,
}

impl Wanted {
    fn locate(counts: &[usize], ranks: &[usize]) -> Self {
        let mut wanted = Self { bins: Vec::new(), groups: Box::new([0; BINS]) };
        let (mut index, mut before) = (0, 0);
        for &rank in ranks {
            while before + counts[index] <= rank {
                before += counts[index];
                index += 1;
            }
            if wanted.groups[index] == 0 {
                wanted.bins.push(Bin { index, ranks: Vec::new() });
                wanted.groups[index] = wanted.bins.len() as u16;
            }
            if let Some(bin) = wanted.bins.last_mut() {
                bin.ranks.push(rank - before);
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64]) {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = values.len();
        let mut ranks = vec![0, n / 4, n / 2, n / 2, n - 1 - n / 100, n - 1];
        ranks.sort_unstable();
        let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank]).collect();
        let found = order_statistics(values, |value| value, Moments::extremes(values), &ranks, &|| false);
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn agrees_with_a_sort_on_awkward_shapes() {
        let n = 20_000;
        let scrambled = |i: usize| (i.wrapping_mul(2_654_435_761) % n) as f64;
        check(&(0..n).map(scrambled).collect::<Vec<_>>());
        check(&(0..n).map(|i| (scrambled(i) / 100.0).floor()).collect::<Vec<_>>());
        check(&vec![7.0; n]);
        // One value far away pushes all others into one bin.
        check(&(0..n).map(|i| if i == 5 { 1e300 } else { scrambled(i) }).collect::<Vec<_>>());
        // Each decade of a heavy tail needs a round of its own.
        check(&(0..n).map(|i| (scrambled(i) / 30.0).exp()).collect::<Vec<_>>());
        // Ranges that a float cannot hold, and that it can hardly resolve.
        check(&(0..n).map(|i| if i % 2 == 0 { f64::MAX } else { f64::MIN }).collect::<Vec<_>>());
        check(&(0..n).map(|i| f64::from_bits(scrambled(i) as u64 % 3)).collect::<Vec<_>>());
    }

    #[test]
    fn no_ranks_need_no_values() {
        assert_eq!(order_statistics::<f64>(&[], |value| value, (0.0, 0.0), &[], &|| false), Ok(Vec::new()));
    }
}
