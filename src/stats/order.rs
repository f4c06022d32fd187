//! Order statistics without sorting: the k-th smallest values for a few k, in two reads of the data.
//!
//! Values are counted into equal-width bins between the extremes; only the bins that hold a wanted rank are gathered,
//! and the same is done again inside each. A long tail puts nearly everything into one bin, which the next round then
//! spreads over its own narrow range.

use super::Sample;

/// A power of two; two sets of 32-bit counters fill a first-level cache of 32 KiB.
const BINS: usize = 4096;
/// Below this many values a sort is quicker than counting.
const SORT_BELOW: usize = 1024;
/// Values are binned in groups of this many, so that the arithmetic of one group runs in vectors.
const LANES: usize = 8;

/// The values that would stand at `ranks` (ascending, counted from 0) if `samples`, each put through `map`, were sorted.
///
/// `map` must give values from `low` to `high`, finite all of them. What is copied are the values near the wanted ranks: a
/// few in a thousand of an ordinary sample, all but a few where something far away stretches the range.
///
/// # Panics
/// If `ranks` does not ascend or holds one that is not below `samples.len()`.
pub fn order_statistics<T: Sample>(
    samples: &[T],
    map: impl Fn(f64) -> f64 + Copy,
    (low, high): (f64, f64),
    ranks: &[usize],
) -> Vec<f64> {
    assert!(ranks.is_sorted(), "ranks must ascend");
    assert!(ranks.last().is_none_or(|&last| last < samples.len()), "a rank lies beyond the samples");
    let mut found = Vec::with_capacity(ranks.len());
    select(samples, map, (low, high), ranks, &mut found);
    found
}

fn select<T: Sample>(
    values: &[T],
    map: impl Fn(f64) -> f64 + Copy,
    range: (f64, f64),
    ranks: &[usize],
    found: &mut Vec<f64>,
) {
    if ranks.is_empty() {
        return;
    }
    let read = |value: &T| map(value.value());
    let parts = narrow(values, read, range, ranks, found);
    parts.into_iter().flatten().for_each(|part| part.finish(found));
}

/// One round: parts the values into bins and keeps those of the wanted ones. `None` when the answers were at hand.
fn narrow<T: Sample>(
    values: &[T],
    read: impl Fn(&T) -> f64 + Copy,
    (low, high): (f64, f64),
    ranks: &[usize],
    found: &mut Vec<f64>,
) -> Option<Vec<Part>> {
    let scale = (BINS - 1) as f64 / (high - low);
    if high <= low {
        found.extend(ranks.iter().map(|_| low));
        return None;
    }
    // A range that a float cannot hold or divide by: sorting is always right.
    if values.len() < SORT_BELOW || !(scale > 0.0 && scale.is_finite()) {
        let mut sorted: Vec<f64> = values.iter().map(read).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        found.extend(ranks.iter().map(|&rank| sorted[rank]));
        return None;
    }
    let bins = Bins { low, scale };
    let counts = count(values, |value| bins.of(read(value)));
    let wanted = Wanted::locate(&counts, ranks);
    let gathered = gather(values, read, bins, &counts, &wanted);
    Some(wanted.bins.into_iter().zip(gathered).map(|(bin, values)| Part { values, ranks: bin.ranks }).collect())
}

/// The values of one bin, and which of them are wanted.
struct Part {
    values: Vec<f64>,
    ranks: Vec<usize>,
}

impl Part {
    /// Narrows down further; each round's values are let go before the next round goes deeper.
    fn finish(self, found: &mut Vec<f64>) {
        let range = extremes(&self.values);
        let parts = narrow(&self.values, |&value| value, range, &self.ranks, found);
        drop(self);
        parts.into_iter().flatten().for_each(|part| part.finish(found));
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
fn count<T: Sample>(values: &[T], bin_of: impl Fn(&T) -> usize) -> Vec<usize> {
    let (mut even, mut odd) = ([0_u32; BINS], [0_u32; BINS]);
    let mut counts = vec![0_usize; BINS];
    // 32-bit counters keep both sets in the cache; a piece is short enough that they cannot overflow.
    for piece in values.chunks(u32::MAX as usize) {
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
    counts
}

/// The values of each wanted bin.
fn gather<T: Sample>(
    values: &[T],
    read: impl Fn(&T) -> f64,
    bins: Bins,
    counts: &[usize],
    wanted: &Wanted,
) -> Vec<Vec<f64>> {
    let mut gathered: Vec<Vec<f64>> = wanted.bins.iter().map(|bin| Vec::with_capacity(counts[bin.index])).collect();
    let mut take = |value: f64, group: u16| {
        if let Some(group) = usize::from(group).checked_sub(1) {
            gathered[group].push(value);
        }
    };
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        let read = std::array::from_fn::<f64, LANES, _>(|lane| read(&group[lane]));
        let wanted = read.map(|value| wanted.groups[bins.of(value)]);
        // Most groups hold nothing that is wanted: one branch, seldom taken, for all of it.
        if wanted.iter().fold(0, |any, group| any | group) != 0 {
            read.into_iter().zip(wanted).for_each(|(value, group)| take(value, group));
        }
    }
    for value in rest.iter().map(read) {
        take(value, wanted.groups[bins.of(value)]);
    }
    gathered
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
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
        assert_eq!(order_statistics(values, |value| value, extremes(values), &ranks), expected);
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
        assert!(order_statistics::<f64>(&[], |value| value, (0.0, 0.0), &[]).is_empty());
    }
}
