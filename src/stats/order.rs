//! Order statistics without sorting: the k-th smallest values for a few k, in two reads of the data.
//!
//! Values are counted into equal-width bins between the extremes; only the bins that hold a wanted rank are gathered,
//! and the same is done again inside each. A long tail puts nearly everything into one bin, which the next round then
//! spreads over its own narrow range.

use super::Sample;

/// One counter set fills half a first-level cache.
const BINS: usize = 4096;
/// Below this many values a sort is quicker than counting.
const SORT_BELOW: usize = 1024;

/// The values that would stand at `ranks` (ascending, counted from 0) if `samples`, each put through `map`, were sorted.
///
/// `map` must give finite values. `samples` is read, never copied whole.
///
/// # Panics
/// If `ranks` does not ascend or holds one that is not below `samples.len()`.
pub fn order_statistics<T: Sample>(samples: &[T], map: impl Fn(f64) -> f64 + Copy, ranks: &[usize]) -> Vec<f64> {
    assert!(ranks.is_sorted(), "ranks must ascend");
    assert!(ranks.last().is_none_or(|&last| last < samples.len()), "a rank lies beyond the samples");
    let mut found = Vec::with_capacity(ranks.len());
    select(samples, map, ranks, &mut found);
    found
}

fn select<T: Sample>(values: &[T], map: impl Fn(f64) -> f64 + Copy, ranks: &[usize], found: &mut Vec<f64>) {
    if ranks.is_empty() {
        return;
    }
    let read = |value: &T| map(value.value());
    if values.len() < SORT_BELOW {
        return select_sorted(values.iter().map(read).collect(), ranks, found);
    }
    let (low, high) = values.iter().map(read).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (if value < low { value } else { low }, if value > high { value } else { high })
    });
    let scale = (BINS - 1) as f64 / (high - low);
    if !(scale > 0.0 && scale.is_finite()) {
        // All values equal, or a range that a float cannot hold or divide by: sorting is always right.
        return select_sorted(values.iter().map(read).collect(), ranks, found);
    }
    // The cast saturates, and rounding is monotone: a larger value never lands in a lower bin.
    let bin_of = |value: f64| (((value - low) * scale) as usize).min(BINS - 1);

    let counts = count(values, |value| bin_of(read(value)));
    let wanted = Wanted::locate(&counts, ranks);
    let mut gathered: Vec<Vec<f64>> = wanted.bins.iter().map(|bin| Vec::with_capacity(counts[bin.index])).collect();
    for value in values {
        let value = read(value);
        if let Some(group) = wanted.group_of(bin_of(value)) {
            gathered[group].push(value);
        }
    }
    for (bin, values) in wanted.bins.iter().zip(gathered) {
        // A named function: a closure here would be a new type, and so a new `select`, at every level.
        select(&values, std::convert::identity, &bin.ranks, found);
    }
}

fn select_sorted(mut values: Vec<f64>, ranks: &[usize], found: &mut Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    found.extend(ranks.iter().map(|&rank| values[rank]));
}

/// Two counter sets in turn, so that neighbours in the same bin do not wait for each other's store.
fn count<T: Sample>(values: &[T], bin_of: impl Fn(&T) -> usize) -> Vec<usize> {
    let (mut even, mut odd) = (vec![0_u32; BINS], vec![0_u32; BINS]);
    let mut counts = vec![0_usize; BINS];
    // 32-bit counters keep both sets in the cache; a piece is short enough that they cannot overflow.
    for piece in values.chunks(u32::MAX as usize) {
        let (pairs, rest) = piece.as_chunks::<2>();
        for [a, b] in pairs {
            even[bin_of(a)] += 1;
            odd[bin_of(b)] += 1;
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

/// The bins that hold a wanted rank.
struct Wanted {
    bins: Vec<Bin>,
    /// For each bin its place in `bins` plus one, 0 for the many that hold none.
    groups: Vec<u16>,
}

struct Bin {
    index: usize,
    /// The wanted ranks, counted from the bin's own first value.
    ranks: Vec<usize>,
}

impl Wanted {
    fn locate(counts: &[usize], ranks: &[usize]) -> Self {
        let mut wanted = Self { bins: Vec::new(), groups: vec![0; counts.len()] };
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

    fn group_of(&self, bin: usize) -> Option<usize> {
        usize::from(self.groups[bin]).checked_sub(1)
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
        assert_eq!(order_statistics(values, |value| value, &ranks), expected);
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
        assert!(order_statistics::<f64>(&[], |value| value, &[]).is_empty());
    }
}
