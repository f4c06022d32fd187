//! Keeps the few values among which the median and the 95th percentile will be found, guessed from the first ones, so that
//! most often nobody has to go through all values again. Whether the guess was right is known for sure in the end.

use super::counting::{bucket, values};

/// From so many values the others are guessed.
const FIRST: usize = if cfg!(test) { 1 << 6 } else { 1 << 15 };
/// No more are kept: 16 MiB.
const MOST: usize = 1 << 21;
/// Values are kept from so far below the guess to as far above, as a part of all.
const MARGIN: f64 = 0.005;

/// Values from `low` on, `length` of them.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    low: u64,
    length: u64,
}

impl Window {
    /// Around a rank of sorted values. Where many are the same, and so are its bounds, it is as wide as their neighbours.
    fn around(sorted: &[u64], part: f64) -> Self {
        let last = sorted.len() - 1;
        let at = |part: f64| sorted[(part.clamp(0.0, 1.0) * last as f64) as usize];
        let (low, high) = (at(part - MARGIN), at(part + MARGIN));
        // Whoever asks wants whole buckets.
        let (low, (highest, bits)) = (values(bucket(low)).0, values(bucket(high)));
        Self { low, length: (highest + ((1 << bits) - 1)).saturating_add(1) - low }
    }

    fn holds(self, value: u64) -> bool {
        value.wrapping_sub(self.low) < self.length
    }
}

/// What is kept of values that come one by one.
#[derive(Debug, Default)]
pub(super) struct Guess {
    /// At first all of them, then those of the windows.
    kept: Vec<u64>,
    windows: Option<[Window; 2]>,
    given_up: bool,
}

impl Guess {
    /// Takes a value.
    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        let wanted = match self.windows {
            Some([one, other]) => one.holds(value) || other.holds(value),
            None => true,
        };
        if wanted && !self.given_up {
            self.keep(value);
        }
    }

    fn keep(&mut self, value: u64) {
        self.kept.push(value);
        if self.windows.is_none() && self.kept.len() == FIRST {
            self.kept.sort_unstable();
            let windows = [0.5, 0.95].map(|part| Window::around(&self.kept, part));
            self.kept.retain(|&value| windows.iter().any(|window| window.holds(value)));
            self.windows = Some(windows);
        } else if self.kept.len() > MOST {
            (self.given_up, self.kept) = (true, Vec::new());
        }
    }

    /// All values from `low` on that differ from it in the `bits` lowest bits alone, in ascending order; `None` if some of
    /// them may not have been kept.
    pub(super) fn bucket(&self, low: u64, bits: u32) -> Option<Vec<u64>> {
        let high = low + ((1 << bits) - 1);
        let is_kept = self.windows.is_none_or(|all| all.iter().any(|window| window.holds(low) && window.holds(high)));
        if self.given_up || !is_kept {
            return None;
        }
        let mut found: Vec<u64> = self.kept.iter().copied().filter(|value| (low..=high).contains(value)).collect();
        found.sort_unstable();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gives_a_bucket_whole_or_not_at_all(
            values in prop::collection::vec((any::<u64>(), 40_u32..64), 0..400),
            low in (any::<u64>(), 40_u32..64),
            bits in 0_u32..20,
        ) {
            let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let low = (low.0 >> low.1) >> bits << bits;
            let mut guess = Guess::default();
            for &value in &values {
                guess.add(value);
            }
            let mut expected: Vec<u64> = values.into_iter().filter(|value| value >> bits == low >> bits).collect();
            expected.sort_unstable();
            prop_assert!(guess.bucket(low, bits).is_none_or(|found| found == expected));
        }
    }

    #[test]
    fn guesses_right_where_later_values_are_like_the_first() {
        let mut guess = Guess::default();
        for count in 0..100_000_u64 {
            guess.add(1000 + count * 7919 % 1000);
        }
        for wanted in [1500, 1950] {
            assert_eq!(guess.bucket(wanted >> 3 << 3, 3).map(|found| found.len()), Some(800));
        }
        assert_eq!(guess.bucket(1000, 3), None);
        assert!(guess.kept.len() < 35_000, "{}", guess.kept.len());
    }

    #[test]
    fn bears_the_largest() {
        let mut guess = Guess::default();
        for _ in 0..1000 {
            guess.add(u64::MAX);
        }
        assert_eq!(guess.bucket(u64::MAX - 1, 1).map(|found| found.len()), None);
        assert_eq!(Guess::default().bucket(1 << 63, 63), Some(Vec::new()));
    }
}
