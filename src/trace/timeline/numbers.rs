//! Numbers of processes and threads in a viewer: their own, as far as these are free.

use rustc_hash::FxHashSet;

/// Numbers that are taken.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    taken: FxHashSet<i64>,
    /// All below are taken, or were passed.
    next: i64,
}

impl Numbers {
    /// `wanted` where it is free, and any that is where not.
    pub(super) fn take(&mut self, wanted: Option<i64>) -> i64 {
        if let Some(wanted) = wanted.filter(|&wanted| self.taken.insert(wanted)) {
            return wanted;
        }
        while !self.taken.insert(self.next) {
            self.next += 1;
        }
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_each_a_number_of_its_own() {
        let mut numbers = Numbers::default();
        let wanted = [Some(1), None, None, Some(1), Some(0), Some(9), Some(i64::MIN)];
        assert_eq!(wanted.map(|wanted| numbers.take(wanted)), [1, 0, 2, 3, 4, 9, i64::MIN]);
    }
}
