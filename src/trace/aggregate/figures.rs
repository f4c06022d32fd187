//! Figures of many groups of entries: every one is exact, and no more than a part of the values is held at once.

use std::hash::Hash;

use super::counting;
use crate::memory::{self, Room as _, filled};
use crate::trace::{Distinct, Entry, Figures, Log};

/// Number of values that are gathered at once: 32 MiB. Groups beyond that take another pass over the log.
const GATHERED: u64 = 4 << 20;

/// From so many entries on, values are counted rather than gathered, where that can be done.
const COUNTED: u64 = 1 << 16;

/// Measured property of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure {
    Duration,
    Bytes,
}

impl Measure {
    fn of(self, entry: &Entry) -> u64 {
        match self {
            Self::Duration => entry.duration(),
            Self::Bytes => entry.bytes,
        }
    }
}

/// Groups of entries, by a key.
#[derive(Debug)]
pub(super) struct Groups<K>(Distinct<K>);

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self(Distinct::default())
    }
}

impl<K: Clone + Eq + Hash> Groups<K> {
    /// The number of the group of `key`.
    pub(super) fn of(&mut self, key: K) -> u32 {
        self.0.intern(key)
    }

    /// The keys, in the order of the groups' numbers.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.all().iter()
    }

    /// The figures of every group. `group_of` has the group of each kind of entry, `counts` says whether an entry does.
    pub(super) fn figures(
        &self,
        log: &Log,
        group_of: &[Option<u32>],
        measure: Measure,
        counts: impl Fn(&Entry) -> bool,
    ) -> Vec<Figures> {
        let entries = || {
            log.iter()
                .filter(&counts)
                .filter_map(|entry| group_of[entry.what as usize].map(|group| (group as usize, measure.of(&entry))))
        };
        if log.len() >= COUNTED
            && let Some(figures) = counting::figures(self.0.all().len(), log.len(), entries)
        {
            return figures;
        }
        let mut sizes: Vec<u64> = filled(0, self.0.all().len());
        entries().for_each(|(group, _)| sizes[group] += 1);
        let mut figures = memory::list(sizes.len());
        while figures.len() < sizes.len() {
            let first = figures.len();
            let (mut places, mut held, mut last) = (Vec::new(), 0, first);
            // At least one group, whatever its size.
            while last < sizes.len() && (last == first || held + sizes[last] <= GATHERED) {
                places.room(1);
                places.push(held as usize);
                held += sizes[last];
                last += 1;
            }
            let mut values = filled(0, held as usize);
            for (group, value) in entries().filter(|(group, _)| (first..last).contains(group)) {
                let place = &mut places[group - first];
                values[*place] = value;
                *place += 1;
            }
            let mut rest = values.as_mut_slice();
            for size in &sizes[first..last] {
                let (of_group, after) = rest.split_at_mut(*size as usize);
                figures.push(Figures::of(of_group));
                rest = after;
            }
        }
        figures
    }
}

impl Figures {
    /// The figures of `values`, which it brings into another order.
    pub(super) fn of(values: &mut [u64]) -> Self {
        let count = values.len();
        let (Some(min), Some(max)) = (values.iter().min().copied(), values.iter().max().copied()) else {
            return Self::default();
        };
        let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
        let mean = sum as f64 / count as f64;
        let squares: f64 = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
        let stddev = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        // From the largest rank down: each selection leaves what is smaller in front of it.
        let (place, hundredths) = ((count - 1) * 95 / 100, (count - 1) * 95 % 100);
        let above = nth(values, (place + 1).min(count - 1)) as f64;
        let below = nth(&mut values[..(place + 2).min(count)], place) as f64;
        let p95 = below + (above - below) * hundredths as f64 / 100.0;
        let upper = nth(&mut values[..=place.max(count / 2)], count / 2) as f64;
        let lower = nth(&mut values[..=count / 2], (count - 1) / 2) as f64;
        Self {
            count: count as u64,
            total: u64::try_from(sum).unwrap_or(u64::MAX),
            mean: Some(mean),
            median: Some(lower.midpoint(upper)),
            min: Some(min),
            max: Some(max),
            stddev,
            p95: Some(p95),
        }
    }
}

fn nth(values: &mut [u64], rank: usize) -> u64 {
    *values.select_nth_unstable(rank).1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_sorting(mut values in prop::collection::vec(0_u64..1000, 1..60)) {
            let figures = Figures::of(&mut values.clone());
            values.sort_unstable();
            let n = values.len();
            let at = |rank: usize| values[rank] as f64;
            prop_assert_eq!(figures.median, Some(f64::midpoint(at((n - 1) / 2), at(n / 2))));
            let rank = (n - 1) as f64 * 0.95;
            let below = rank.floor() as usize;
            let p95 = at(below) + (at((below + 1).min(n - 1)) - at(below)) * (rank - rank.floor());
            prop_assert!((figures.p95.expect("p95") - p95).abs() < 1e-6);
            prop_assert_eq!((figures.min, figures.max), (Some(values[0]), Some(values[n - 1])));
            prop_assert_eq!(figures.total, values.iter().sum::<u64>());
        }
    }

    #[test]
    fn takes_what_is_odd() {
        assert_eq!(Figures::of(&mut []), Figures::default());
        let one = Figures::of(&mut [7]);
        assert_eq!((one.median, one.p95, one.stddev), (Some(7.0), Some(7.0), None));
        assert_eq!(Figures::of(&mut [u64::MAX, u64::MAX]).total, u64::MAX);
    }
}
