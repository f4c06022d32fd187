//! Innermost of many open ranges, the one that was opened last: n log n, however they overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::memory::{Room as _, collected};

/// A time during which something is open, both bounds included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trace::aggregate) struct Open {
    pub(in crate::trace::aggregate) start: i64,
    /// `i64::MAX` for ranges that are never closed.
    pub(in crate::trace::aggregate) last: i64,
    /// Its place in the file, where two are otherwise the same.
    pub(in crate::trace::aggregate) order: u32,
    /// The open range.
    pub(in crate::trace::aggregate) what: u32,
}

impl Open {
    /// The innermost is the largest: the one opened last, of those the one closed first, of those the last in the file.
    pub(in crate::trace::aggregate) fn depth(&self) -> (i64, Reverse<i64>, u32) {
        (self.start, Reverse(self.last), self.order)
    }
}

/// Pieces of time between starts and ends of ranges, and the innermost range of each piece.
#[derive(Debug, Default)]
pub(in crate::trace::aggregate) struct Innermost {
    /// By start.
    opens: Vec<Open>,
    /// Starts of pieces; the last never ends.
    cuts: Vec<i64>,
    /// By piece: a place in `opens`.
    inside: Vec<Option<u32>>,
}

impl Innermost {
    pub(in crate::trace::aggregate) fn of(mut opens: Vec<Open>) -> Self {
        opens.sort_unstable_by_key(|open| (open.start, open.order));
        let starts = opens.iter().map(|open| open.start);
        let mut cuts: Vec<i64> = collected(starts.chain(opens.iter().filter_map(|open| open.last.checked_add(1))));
        cuts.sort_unstable();
        cuts.dedup();
        let (mut heap, mut next) = (BinaryHeap::new(), 0);
        let inside = cuts.iter().map(|&cut| {
            while let Some(open) = opens.get(next).filter(|open| open.start <= cut) {
                heap.room(1);
                heap.push((open.depth(), next as u32));
                next += 1;
            }
            while heap.peek().is_some_and(|((_, Reverse(last), _), _)| *last < cut) {
                heap.pop();
            }
            heap.peek().map(|&(_, place)| place)
        });
        let inside = collected(inside);
        Self { opens, cuts, inside }
    }

    /// By start.
    pub(in crate::trace::aggregate) fn opens(&self) -> &[Open] {
        &self.opens
    }

    /// Returns the number of pieces.
    pub(in crate::trace::aggregate) fn pieces(&self) -> usize {
        self.cuts.len()
    }

    /// The piece in which `at` lies; none before anything has opened. `near` is where to look first.
    pub(in crate::trace::aggregate) fn piece(&self, at: i64, near: usize) -> Option<usize> {
        // Calls are about in order, so that most are in the piece of the last call, or behind it.
        for piece in [near, near + 1] {
            let begun = self.cuts.get(piece).is_some_and(|&cut| cut <= at);
            if begun && self.cuts.get(piece + 1).is_none_or(|&cut| at < cut) {
                return Some(piece);
            }
        }
        self.cuts.partition_point(|&cut| cut <= at).checked_sub(1)
    }

    /// Returns the innermost range in a piece.
    pub(in crate::trace::aggregate) fn inside(&self, piece: usize) -> Option<&Open> {
        self.inside[piece].map(|place| &self.opens[place as usize])
    }

    /// Returns the innermost range at a time.
    pub(in crate::trace::aggregate) fn at(&self, at: i64) -> Option<&Open> {
        self.piece(at, 0).and_then(|piece| self.inside(piece))
    }

    /// The pieces from the one that begins at `start` up to `last`, which is included.
    pub(in crate::trace::aggregate) fn between(&self, start: i64, last: i64) -> std::ops::Range<usize> {
        self.cuts.partition_point(|&cut| cut < start)..self.cuts.partition_point(|&cut| cut <= last)
    }
}
