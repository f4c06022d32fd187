//! Time in bins of one length, which doubles when asked to.

use crate::memory::{collected, filled};

/// Time in bins, of which each is as long as a power of two.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    /// The power.
    shift: u32,
    /// Time in each bin, but for that of spans that cover the whole bin.
    times: Vec<u64>,
    /// Number of spans that cover a bin whole, less those that cover the bin before it.
    steps: Vec<i64>,
}

impl Series {
    /// Adds the span `from..to`, which must lie in the first `count` bins of the length `1 << shift`.
    ///
    /// The length never becomes less from one call to the next.
    #[inline]
    pub(super) fn add(&mut self, from: u64, to: u64, shift: u32, count: usize) {
        if to <= from {
            return;
        }
        if self.times.is_empty() {
            (self.times, self.steps, self.shift) = (filled(0, count), filled(0, count), shift);
        }
        while self.shift < shift {
            self.double();
        }
        let (first, last) = ((from >> shift) as usize, ((to - 1) >> shift) as usize);
        if first == last {
            self.times[first] = self.times[first].saturating_add(to - from);
            return;
        }
        let (begin, end) = (((first as u64) + 1) << shift, (last as u64) << shift);
        self.times[first] = self.times[first].saturating_add(begin - from);
        self.times[last] = self.times[last].saturating_add(to - end);
        self.steps[first + 1] += 1;
        self.steps[last] -= 1;
    }

    /// The first `count` bins of `merged` bins of the length `1 << shift` each.
    pub(super) fn bins(&self, shift: u32, merged: usize, count: usize) -> Vec<u64> {
        if self.times.is_empty() {
            return filled(0, count);
        }
        let mut settled = self.clone();
        while settled.shift < shift {
            settled.double();
        }
        settled.settle();
        let groups =
            settled.times.chunks(merged).map(|group| group.iter().fold(0_u64, |sum, &one| sum.saturating_add(one)));
        collected(groups.take(count))
    }

    fn double(&mut self) {
        self.settle();
        let count = self.times.len();
        for place in 0..count {
            let at = |place: usize| self.times.get(place).copied().unwrap_or_default();
            self.times[place] = at(2 * place).saturating_add(at(2 * place + 1));
        }
        self.shift += 1;
    }

    /// Adds the spans that cover whole bins to their times.
    fn settle(&mut self) {
        let mut covering = 0;
        for (time, step) in self.times.iter_mut().zip(&mut self.steps) {
            covering += std::mem::take(step);
            *time = time.saturating_add((covering as u64).saturating_mul(1 << self.shift));
        }
    }
}
