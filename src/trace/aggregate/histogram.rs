//! Number of values in bins whose width grows with the value, without storing the values.

use crate::memory::{collected, filled};
use crate::trace::Histogram;

/// Bins to each power of two, as a power of two. Smaller values have a bin of their own.
const FINE: u32 = 3;
/// Number of bins of all values.
const BINS: usize = ((64 - FINE as usize) + 1) << FINE;

/// Counts of values by bin.
pub(super) struct Counted {
    negative: u64,
    bins: Vec<u64>,
}

impl Counted {
    pub(super) fn new() -> Self {
        Self { negative: 0, bins: filled(0, BINS) }
    }

    #[inline]
    pub(super) fn add(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.bins[bin(value)] += 1,
            Err(_) => self.negative += 1,
        }
    }

    /// The bins from the first with a value to the last.
    pub(super) fn histogram(&self) -> Histogram {
        let first = self.bins.iter().position(|&count| count > 0).unwrap_or_default();
        let end = self.bins.iter().rposition(|&count| count > 0).map_or(first, |last| last + 1);
        Histogram {
            negative_count: self.negative,
            bounds_ns: if end > first { collected((first..=end).map(bound)) } else { Vec::new() },
            counts: collected(self.bins[first..end].iter().copied()),
        }
    }
}

fn bin(value: u64) -> usize {
    let octave = value.checked_ilog2().map_or(0, |power| power.saturating_sub(FINE));
    ((octave as usize) << FINE) + (value >> octave) as usize
}

/// The least value of a bin.
fn bound(bin: usize) -> u64 {
    let octave = (bin >> FINE).saturating_sub(1);
    ((bin - (octave << FINE)) as u64) << octave
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bins_follow_each_other() {
        for place in 0..BINS - (1 << FINE) {
            let (least, next) = (bound(place), bound(place + 1));
            assert_eq!((bin(least), bin(next - 1)), (place, place));
            assert!(next - least <= (least >> FINE).max(1), "{place}");
        }
    }

    proptest! {
        #[test]
        fn every_value_is_in_its_bin(values in prop::collection::vec(prop_oneof![-5_i64..40, any::<i64>()], 0..40)) {
            let mut counted = Counted::new();
            for &value in &values {
                counted.add(value);
            }
            let found = counted.histogram();
            prop_assert_eq!(found.negative_count, values.iter().filter(|&&value| value < 0).count() as u64);
            prop_assert_eq!(found.bounds_ns.len(), if found.counts.is_empty() { 0 } else { found.counts.len() + 1 });
            for (place, &count) in found.counts.iter().enumerate() {
                let within = found.bounds_ns[place]..found.bounds_ns[place + 1];
                let inside = values.iter().filter(|&&value| u64::try_from(value).is_ok_and(|value| within.contains(&value)));
                prop_assert_eq!(count, inside.count() as u64);
            }
            prop_assert_eq!(found.negative_count + found.counts.iter().sum::<u64>(), values.len() as u64);
        }
    }
}
