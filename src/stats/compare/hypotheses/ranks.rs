//! How the values of two sides compare, pair by pair, without making the pairs.

use crate::error::Result;
use crate::stats::samples::{check, finite, from_key, sort_keys, to_key};

/// Merged in some milliseconds, between which the caller is asked.
const PART: usize = 1 << 20;

/// Of all pairs of a baseline's and a candidate's value: how often the candidate's is smaller, equal, larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pairs {
    pub(super) less: u64,
    pub(super) equal: u64,
    pub(super) greater: u64,
    /// The sum of t³ − t over the groups of t equal values, of whichever side.
    pub(super) ties: f64,
}

impl Pairs {
    /// Refuses an empty side, NaN and infinities by position.
    pub(super) fn of(baseline: &[f64], candidate: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Self> {
        let sides = Sides::of(baseline, candidate, interrupted)?;
        let (baseline, candidate) = sides.keys();
        Merge::default().all(baseline, candidate, interrupted)
    }
}

/// The keys of both sides, each in ascending order.
#[derive(Debug)]
pub(super) struct Sides {
    keys: Vec<u64>,
    /// How many are the baseline's, which come first.
    baseline: usize,
}

impl Sides {
    /// Refuses an empty side, NaN and infinities by position.
    pub(super) fn of(baseline: &[f64], candidate: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Self> {
        finite("baseline", baseline, 1)?;
        finite("candidate", candidate, 1)?;
        // One piece of memory: allocators give back several of its size at once to the system, and clearing them again for
        // the next call takes longer than the sort.
        let (n, m) = (baseline.len(), candidate.len());
        let mut keys = Vec::with_capacity(n + m + n.max(m));
        keys.extend(baseline.iter().chain(candidate).map(|&sample| key(sample)));
        keys.resize(n + m + n.max(m), 0);
        let (both, spare) = keys.split_at_mut(n + m);
        let (baseline, candidate) = both.split_at_mut(n);
        sort_keys(baseline, &mut spare[..n], interrupted)?;
        sort_keys(candidate, &mut spare[..m], interrupted)?;
        keys.truncate(n + m);
        Ok(Self { keys, baseline: n })
    }

    /// The baseline's and the candidate's.
    pub(super) fn keys(&self) -> (&[u64], &[u64]) {
        self.keys.split_at(self.baseline)
    }

    /// The same as floats, zeros without a sign.
    pub(super) fn values(&self) -> (Vec<f64>, Vec<f64>) {
        let values = |keys: &[u64]| keys.iter().map(|&key| from_key(key)).collect();
        let (baseline, candidate) = self.keys();
        (values(baseline), values(candidate))
    }
}

/// Equal values have equal keys: zeros lose their sign.
fn key(sample: f64) -> u64 {
    to_key(sample + 0.0)
}

/// The values of both sides in ascending order, the baseline's first among equals: what has been found so far.
#[derive(Default)]
struct Merge {
    /// The value before, which stands for none where it is 0: that is the key of a NaN.
    last: u64,
    /// How many values before it are equal to it, and how many of the baseline's are, itself included.
    equals: u64,
    equals_of_baseline: u64,
    /// Pairs in which the candidate's value is not smaller, and is equal.
    not_less: u64,
    equal: u64,
    ties: u128,
}

impl Merge {
    fn all(mut self, baseline: &[u64], candidate: &[u64], interrupted: &dyn Fn() -> bool) -> Result<Pairs> {
        let (mut i, mut j) = (0, 0);
        while i < baseline.len() && j < candidate.len() {
            check(interrupted)?;
            let end = i + j + PART;
            while i < baseline.len() && j < candidate.len() && i + j < end {
                let of_baseline = baseline[i] <= candidate[j];
                self.take(baseline[i].min(candidate[j]), of_baseline, i);
                i += usize::from(of_baseline);
                j += usize::from(!of_baseline);
            }
        }
        for part in baseline[i..].chunks(PART) {
            check(interrupted)?;
            for &key in part {
                self.take(key, true, 0);
            }
        }
        for part in candidate[j..].chunks(PART) {
            check(interrupted)?;
            for &key in part {
                self.take(key, false, baseline.len());
            }
        }
        let all = baseline.len() as u64 * candidate.len() as u64;
        let Self { not_less, equal, ties, .. } = self;
        Ok(Pairs { less: all - not_less, equal, greater: not_less - equal, ties: ties as f64 })
    }

    /// Takes the next value, before which so many of the baseline's came. No branch: whose it is cannot be foreseen.
    #[inline]
    fn take(&mut self, key: u64, of_baseline: bool, before: usize) {
        let is_equal = key == self.last;
        self.last = key;
        self.equals = if is_equal { self.equals + 1 } else { 0 };
        self.equals_of_baseline = if is_equal { self.equals_of_baseline } else { 0 } + u64::from(of_baseline);
        self.not_less += if of_baseline { 0 } else { before as u64 };
        self.equal += if of_baseline { 0 } else { self.equals_of_baseline };
        // What one more equal value adds to t³ − t.
        self.ties += u128::from(3 * self.equals * (self.equals + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_counted_once() {
        let baseline = [3.0, 1.0, 2.0, 2.0, -0.0];
        let candidate = [2.0, 0.0, 5.0];
        let found = Pairs::of(&baseline, &candidate, &|| false);
        // Three values are 2, and two are 0, of either sign.
        assert_eq!(found, Ok(Pairs { less: 5, equal: 3, greater: 7, ties: 24.0 + 6.0 }));
    }

    #[test]
    fn sides_apart_and_of_several_parts() {
        let low: Vec<f64> = (0..PART + 5).map(|i| i as f64).collect();
        let high: Vec<f64> = low.iter().map(|value| value + 0.5).collect();
        let n = low.len() as u64;
        let found = Pairs::of(&low, &high, &|| false).expect("nobody interrupts");
        assert_eq!(found, Pairs { less: n * (n - 1) / 2, equal: 0, greater: n * (n + 1) / 2, ties: 0.0 });
        assert_eq!(Pairs::of(&[1.0], &[2.0], &|| false).map(|found| found.greater), Ok(1));
        assert_eq!(Pairs::of(&[2.0], &[1.0], &|| false).map(|found| found.less), Ok(1));
    }
}
