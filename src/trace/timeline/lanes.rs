//! Lanes of a track: the slices of a lane lie side by side or one inside the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The lanes of one track.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Ends of the open slices of the first lane, each inside the one before.
    open: Vec<i64>,
    /// Time at which each of the others is free.
    others: BinaryHeap<Reverse<(i64, usize)>>,
    count: usize,
}

impl Lanes {
    /// Returns the lane of a slice from `start` to `end`; starts must not descend.
    pub(super) fn place(&mut self, start: i64, end: i64) -> usize {
        while self.open.pop_if(|open| *open <= start).is_some() {}
        if self.open.last().is_none_or(|&open| end <= open) {
            self.open.push(end);
            return 0;
        }
        let lane = match self.others.peek() {
            Some(&Reverse((free, lane))) if free <= start => {
                self.others.pop();
                lane
            }
            _ => {
                self.count += 1;
                self.count
            }
        };
        self.others.push(Reverse((end, lane)));
        lane
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn overlaps_go_to_another_lane() {
        let mut lanes = Lanes::default();
        let places = [(0, 10), (0, 4), (4, 10), (5, 12), (6, 13), (12, 14), (13, 20)];
        let found: Vec<usize> = places.iter().map(|&(start, end)| lanes.place(start, end)).collect();
        assert_eq!(found, [0, 0, 0, 1, 2, 0, 1]);
    }

    proptest! {
        #[test]
        fn nothing_crosses(mut spans in prop::collection::vec((0_i64..60, 0_i64..20), 0..60)) {
            spans.sort_unstable();
            let mut lanes = Lanes::default();
            let mut drawn: Vec<(usize, i64, i64)> = Vec::new();
            for (start, length) in spans {
                let (lane, end) = (lanes.place(start, start + length), start + length);
                for &(_, first, last) in drawn.iter().filter(|(other, ..)| *other == lane) {
                    prop_assert!(last <= start || end <= last, "{first}-{last} and {start}-{end} on {lane}");
                }
                drawn.push((lane, start, end));
            }
        }
    }
}
