//! Median and 95th percentile of a stream of values, without storing all: the first values determine which of the others are
//! kept.

use crate::memory::{self, Room as _};

/// From so many values on, only those near the wanted ranks are kept: 8 MiB.
const FIRST: usize = if cfg!(test) { 64 } else { 1 << 21 };
/// Values are kept from so far below a wanted rank of the first ones to as far above, as a part of all.
const MARGIN: f64 = 0.05;
const WANTED: [f64; 2] = [0.5, 0.95];

/// Values, as far as they are kept.
#[derive(Debug)]
pub(super) struct Quantiles {
    count: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    All(Vec<i32>),
    /// Around each wanted rank.
    Windows([Window; 2]),
    /// A value was too large, or all that follow the first ones lie in a window.
    GivenUp,
}

#[derive(Debug)]
struct Window {
    low: i32,
    high: i32,
    /// Number of values below `low`.
    below: u64,
    /// Those from `low` to `high`.
    values: Vec<i32>,
}

impl Quantiles {
    pub(super) fn new() -> Self {
        Self { count: 0, state: State::All(Vec::new()) }
    }

    /// Takes a value.
    #[inline]
    pub(super) fn add(&mut self, value: i64) {
        self.count += 1;
        let Ok(value) = i32::try_from(value) else {
            self.state = State::GivenUp;
            return;
        };
        match &mut self.state {
            State::All(values) => {
                values.put(value);
                if values.len() == FIRST {
                    values.sort_unstable();
                    self.state = State::Windows(WANTED.map(|part| Window::around(values, part)));
                }
            }
            State::Windows(windows) => {
                for window in &mut *windows {
                    window.add(value);
                }
                if windows.iter().any(|window| window.values.len() > FIRST) {
                    self.state = State::GivenUp;
                }
            }
            State::GivenUp => {}
        }
    }

    /// The two values in the middle, and the two around the 95th percentile; `None` of no values, and where they were not
    /// kept.
    pub(super) fn figures(self) -> Option<[i64; 4]> {
        let last = self.count.checked_sub(1)?;
        let below = last * 95 / 100;
        let ranks = [[last / 2, self.count / 2], [below, (below + 1).min(last)]];
        let mut all = Vec::new();
        let windows = match self.state {
            State::All(mut values) => {
                values.sort_unstable();
                all = values;
                None
            }
            State::Windows(windows) => Some(windows.map(Window::sorted)),
            State::GivenUp => return None,
        };
        let at = |place: usize, rank: u64| match &windows {
            None => all.get(rank as usize).copied(),
            Some(windows) => windows[place].values.get(rank.checked_sub(windows[place].below)? as usize).copied(),
        };
        let [middle, percentile] = ranks;
        Some([at(0, middle[0])?, at(0, middle[1])?, at(1, percentile[0])?, at(1, percentile[1])?].map(i64::from))
    }
}

impl Window {
    fn around(sorted: &[i32], part: f64) -> Self {
        let last = (sorted.len() - 1) as f64;
        let at = |part: f64| sorted[(part.clamp(0.0, 1.0) * last) as usize];
        let (low, high) = (at(part - MARGIN), at(part + MARGIN));
        let first = sorted.partition_point(|&value| value < low);
        let end = sorted.partition_point(|&value| value <= high);
        Self { low, high, below: first as u64, values: memory::copied(&sorted[first..end]) }
    }

    fn add(&mut self, value: i32) {
        if value < self.low {
            self.below += 1;
        } else if value <= self.high {
            self.values.put(value);
        }
    }

    fn sorted(mut self) -> Self {
        self.values.sort_unstable();
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_right_or_gives_up(
            values in prop::collection::vec(prop_oneof![8 => -50_i64..1000, 1 => Just(i64::from(i32::MAX))], 0..400),
        ) {
            let mut found = Quantiles::new();
            for &value in &values {
                found.add(value);
            }
            let mut sorted = values;
            sorted.sort_unstable();
            let expected = sorted.len().checked_sub(1).map(|last| {
                let below = last * 95 / 100;
                [last / 2, sorted.len() / 2, below, (below + 1).min(last)].map(|rank| sorted[rank])
            });
            let found = found.figures();
            prop_assert!(found == expected || (found.is_none() && sorted.len() >= FIRST), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn later_values_like_the_first_need_no_other_pass() {
        let mut found = Quantiles::new();
        for value in 0..500_i64 {
            found.add(value * 7919 % 1000);
        }
        assert!(found.figures().is_some());
        let mut found = Quantiles::new();
        found.add(i64::MAX);
        assert_eq!(found.figures(), None);
    }
}
