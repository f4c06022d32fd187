//! Figures of a few groups of very many values, none of which is kept: values are counted by size, more finely with each
//! pass where a wanted one lies, until it alone is left. Every figure is exact.

use crate::memory::{collected, filled};
use crate::trace::Figures;

/// More groups are not counted: they would take more memory than their values.
const MOST_GROUPS: usize = 256;
/// So many buckets for each doubling, as a power of two. The first two doublings' worth have one value each.
const FINE: u32 = 6;
const BUCKETS: usize = (64 - FINE as usize + 1) << FINE;
/// A later pass divides a bucket by so much, as a power of two.
const FINER: u32 = 12;
/// So many values take no more memory than their counts.
const FEW: u32 = 1 << 11;

/// State of a group after the first pass.
#[derive(Debug, Clone)]
struct Group {
    count: u64,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
    counts: Vec<u32>,
    /// In ascending order: those of the median and of the percentile.
    wanted: [Wanted; 4],
}

/// A value that is wanted.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    /// Number of values of its bucket in front of it.
    rank: u64,
    /// Its bucket: the smallest value, and how many low bits vary.
    low: u64,
    bits: u32,
    /// Number of values in its bucket.
    count: u32,
}

/// A bucket that is counted once more.
#[derive(Debug)]
struct Finer {
    low: u64,
    bits: u32,
    counts: Vec<u32>,
    /// All of it, if it holds few values: they need not be counted again.
    kept: Option<Vec<u64>>,
}

/// The figures of all groups. `entries` gives the group and the value of every entry, each time it is called. `None` if
/// this is no way to find them.
pub(super) fn figures<I: Iterator<Item = (usize, u64)>>(
    groups: usize,
    most: u64,
    entries: impl Fn() -> I,
) -> Option<Vec<Figures>> {
    if groups > MOST_GROUPS || u32::try_from(most).is_err() {
        return None;
    }
    let mut counts = Counts::new(groups);
    entries().for_each(|(group, value)| counts.add(group, value));
    counts.refine(entries);
    counts.groups.iter().map(Group::figures).collect()
}

/// Values of groups, counted. Their number is not beyond 2³².
#[derive(Debug)]
pub(super) struct Counts {
    groups: Vec<Group>,
}

impl Counts {
    pub(super) fn new(groups: usize) -> Self {
        let empty = Group {
            count: 0,
            sum: 0,
            squares: 0,
            min: u64::MAX,
            max: 0,
            counts: filled(0, BUCKETS),
            wanted: [Wanted::default(); 4],
        };
        Self { groups: collected((0..groups).map(|_| Group { counts: filled(0, BUCKETS), ..empty })) }
    }

    /// Counts a value, in the first pass over all.
    pub(super) fn add(&mut self, group: usize, value: u64) {
        self.groups[group].add(value);
    }

    /// Finds the wanted values, in some more passes. `entries` gives all values again, each time it is called.
    pub(super) fn refine<I: Iterator<Item = (usize, u64)>>(&mut self, entries: impl Fn() -> I) {
        self.groups.iter_mut().for_each(Group::begin);
        loop {
            let mut finer: Vec<Vec<Finer>> = self.groups.iter().map(Group::finer).collect();
            if finer.iter().all(Vec::is_empty) {
                return;
            }
            entries().for_each(|(group, value)| finer[group].iter_mut().for_each(|bucket| bucket.add(value)));
            for (group, finer) in self.groups.iter_mut().zip(&mut finer) {
                group.narrow(finer);
            }
        }
    }

    /// The two values in the middle of a group, and the two around its 95th percentile; 0 without values.
    pub(super) fn wanted(&self, group: usize) -> [u64; 4] {
        self.groups[group].wanted.map(|wanted| wanted.low)
    }
}

impl Group {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        // Of no more than 2³² values of 64 bits this may be too small: such groups have no figures here.
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.counts[bucket(value)] += 1;
    }

    /// Looks for the ranks in the first counts, which are no longer needed.
    fn begin(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let Some(last) = self.count.checked_sub(1) else { return };
        let below = last * 95 / 100;
        for (wanted, rank) in self.wanted.iter_mut().zip([last / 2, self.count / 2, below, (below + 1).min(last)]) {
            let (bucket, rank) = find(&counts, rank);
            let (low, bits) = values(bucket);
            *wanted = Wanted { rank, low, bits, count: counts[bucket] };
        }
    }

    /// The buckets in which the wanted values lie, each once.
    fn finer(&self) -> Vec<Finer> {
        let mut finer: Vec<Finer> = Vec::new();
        for rank in self.wanted.iter().filter(|rank| rank.bits > 0) {
            if finer.iter().all(|known| known.low != rank.low) {
                let kept = (rank.count <= FEW).then(Vec::new);
                let counts = filled(0, if kept.is_some() { 0 } else { 1 << rank.bits.min(FINER) });
                finer.push(Finer { low: rank.low, bits: rank.bits, counts, kept });
            }
        }
        finer
    }

    fn narrow(&mut self, finer: &mut [Finer]) {
        for wanted in self.wanted.iter_mut().filter(|rank| rank.bits > 0) {
            let Some(bucket) = finer.iter_mut().find(|bucket| bucket.low == wanted.low) else { continue };
            if let Some(kept) = &mut bucket.kept {
                kept.sort_unstable();
                *wanted = Wanted { low: kept[wanted.rank as usize], ..Wanted::default() };
                continue;
            }
            let (place, rank) = find(&bucket.counts, wanted.rank);
            let bits = bucket.bits - bucket.bits.min(FINER);
            *wanted = Wanted { rank, low: bucket.low + ((place as u64) << bits), bits, count: bucket.counts[place] };
        }
    }

    fn figures(&self) -> Option<Figures> {
        if self.count == 0 {
            return Some(Figures::default());
        }
        let count = u128::from(self.count);
        let mean = self.sum as f64 / self.count as f64;
        // Exact: the sum of all squared differences from the mean, times `count`.
        let spread = count.checked_mul(self.squares)?.checked_sub(self.sum.checked_mul(self.sum)?)?;
        let stddev = (count > 1).then(|| (spread as f64 / (count * (count - 1)) as f64).sqrt());
        let [lower, upper, below, above] = self.wanted.map(|rank| rank.low as f64);
        let hundredths = (self.count - 1) * 95 % 100;
        Some(Figures {
            count: self.count,
            total: u64::try_from(self.sum).unwrap_or(u64::MAX),
            mean: Some(mean),
            median: Some(lower.midpoint(upper)),
            min: Some(self.min),
            max: Some(self.max),
            stddev,
            p95: Some(below + (above - below) * hundredths as f64 / 100.0),
        })
    }
}

impl Finer {
    fn add(&mut self, value: u64) {
        let above = value.wrapping_sub(self.low);
        if above >> self.bits == 0 {
            if let Some(kept) = &mut self.kept {
                kept.push(value);
                return;
            }
            self.counts[(above >> (self.bits - self.bits.min(FINER))) as usize] += 1;
        }
    }
}

/// The bucket of a value, by its highest bits.
fn bucket(value: u64) -> usize {
    let doubling = (value | 1 << FINE).ilog2() - FINE;
    (value >> doubling) as usize + ((doubling as usize) << FINE)
}

/// The smallest value of a bucket, and how many low bits vary.
fn values(bucket: usize) -> (u64, u32) {
    let doubling = (bucket >> FINE).saturating_sub(1);
    (((bucket - (doubling << FINE)) as u64) << doubling, doubling as u32)
}

/// The bucket of a rank, and the rank within it.
fn find(counts: &[u32], mut rank: u64) -> (usize, u64) {
    for (place, &count) in counts.iter().enumerate() {
        match rank.checked_sub(u64::from(count)) {
            Some(rest) => rank = rest,
            None => return (place, rank),
        }
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_keeping_every_value(
            raw in prop::collection::vec((0_usize..3, any::<u64>(), 20_u32..64), 1..200),
        ) {
            let raw: Vec<(usize, u64)> = raw.into_iter().map(|(group, value, shift)| (group, value >> shift)).collect();
            let found = figures(4, 200, || raw.iter().copied()).unwrap();
            for (group, found) in found.into_iter().enumerate() {
                let mut values: Vec<u64> = raw.iter().filter(|entry| entry.0 == group).map(|entry| entry.1).collect();
                let kept = Figures::of(&mut values);
                let (ours, theirs) = (found.stddev.unwrap_or(0.0), kept.stddev.unwrap_or(0.0));
                prop_assert!((ours - theirs).abs() <= 1e-9 * theirs, "{ours} {theirs}");
                prop_assert_eq!(Figures { stddev: None, ..found }, Figures { stddev: None, ..kept });
            }
        }

        #[test]
        fn buckets_are_as_large_as_they_say(value: u64, shift in 0_u32..64) {
            let value = value >> shift;
            let (low, bits) = values(bucket(value));
            prop_assert_eq!(value >> bits, low >> bits);
            prop_assert_eq!(bucket(low), bucket(value));
            prop_assert!(bucket(value) < BUCKETS);
        }
    }

    #[test]
    fn refuses_what_it_cannot_count() {
        let huge = [(0, u64::MAX), (0, u64::MAX)];
        assert_eq!(figures(1, 2, || huge.into_iter()), None);
        assert_eq!(figures(MOST_GROUPS + 1, 2, || huge.into_iter()), None);
    }
}
