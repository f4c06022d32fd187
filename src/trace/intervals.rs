//! Busy time: the length of the union of intervals, by one pass over them in the order of their starts.

/// Takes intervals in ascending order of their starts.
#[derive(Debug, Clone, Default)]
pub struct Busy {
    /// First start and last end.
    span: Option<(i64, i64)>,
    covered: u64,
    doubly_covered: u64,
    /// Up to where an overlap has been counted.
    overlap_end: i64,
}

impl Busy {
    /// Adds the interval from `start` to `end`, which is not before it; `start` is not before that of the last one.
    #[inline]
    pub fn add(&mut self, start: i64, end: i64) {
        let Some((first, last)) = self.span else {
            self.span = Some((start, end));
            self.covered = end.abs_diff(start);
            self.overlap_end = i64::MIN;
            return;
        };
        // All that came before and goes beyond `start` covers [start, last) without a gap: it is doubly covered as far as
        // this interval goes.
        let covered = last.min(end);
        let doubly_from = start.max(self.overlap_end);
        if covered > doubly_from {
            self.doubly_covered += covered.abs_diff(doubly_from);
            self.overlap_end = covered;
        }
        if end > last {
            self.covered += end.abs_diff(start.max(last));
        }
        self.span = Some((first, last.max(end)));
    }

    /// First start and last end; `None` if nothing was added.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.span
    }

    /// The length of the union.
    pub fn busy_ns(&self) -> u64 {
        self.covered
    }

    /// For how long two or more ran at once.
    pub fn overlap_ns(&self) -> u64 {
        self.doubly_covered
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_counting_every_nanosecond(
            mut intervals in prop::collection::vec((-50_i64..50, 0_i64..30), 0..20),
        ) {
            intervals.sort_unstable();
            let mut busy = Busy::default();
            let mut depth = [0_u32; 200];
            for &(start, length) in &intervals {
                busy.add(start, start + length);
                (start..start + length).for_each(|at| depth[(at + 60) as usize] += 1);
            }
            let at_least = |n: u32| depth.iter().filter(|&&count| count >= n).count() as u64;
            prop_assert_eq!((busy.busy_ns(), busy.overlap_ns()), (at_least(1), at_least(2)));
            let first = intervals.iter().map(|&(start, _)| start).min();
            let last = intervals.iter().map(|&(start, length)| start + length).max();
            prop_assert_eq!(busy.span(), first.zip(last));
        }
    }

    #[test]
    fn holds_the_longest_interval() {
        let mut busy = Busy::default();
        busy.add(i64::MIN, i64::MAX);
        busy.add(i64::MIN, i64::MAX);
        assert_eq!((busy.busy_ns(), busy.overlap_ns()), (u64::MAX, u64::MAX));
    }
}
