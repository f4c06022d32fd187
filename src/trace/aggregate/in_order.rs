//! Entries of logs in the order of their starts, without a table of all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::iter;

use crate::memory::{self, Room as _};
use crate::trace::{Entries, Entry, IntoEntries, Log};

/// So many entries of a log that is in no order are sorted at once; few in tests.
const BLOCK: usize = if cfg!(test) { 8 } else { 1 << 15 };

/// The entries of both by ascending start; of equal starts those of `one` first, and then in the order of the logs.
pub(super) fn in_order<'a>(one: &'a Log, other: &'a Log) -> impl Iterator<Item = Entry> + 'a {
    let mut other = sorted(other);
    InOrder { one: sorted(one), left: None, right: other.next(), other }
}

/// The entries of a log by ascending start. Of those that start together the longer one called the shorter, whichever was
/// written first, and comes first; of equal ones the first called the second.
pub(super) fn longer_first(log: &Log) -> impl Iterator<Item = Entry> {
    let (mut entries, mut together) = (sorted(log).peekable(), Vec::new());
    iter::from_fn(move || {
        if together.is_empty() {
            let first = entries.next()?;
            together.put(first);
            together.extend(iter::from_fn(|| entries.next_if(|entry| entry.start == first.start)));
            together.sort_by_key(|entry: &Entry| Reverse(entry.end));
            together.reverse();
        }
        together.pop()
    })
}

/// The entries of two logs. Most come from the first and are handed on at once.
struct InOrder<'a> {
    one: Sorted<'a>,
    /// The next of `one`, if one of `other` came before it.
    left: Option<Entry>,
    other: Sorted<'a>,
    right: Option<Entry>,
}

impl Iterator for InOrder<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        let left = self.left.take().or_else(|| self.one.next());
        match (left, self.right) {
            (Some(left), Some(right)) if right.start < left.start => {
                (self.left, self.right) = (Some(left), self.other.next());
                Some(right)
            }
            (Some(left), _) => Some(left),
            (None, right) => {
                self.right = self.other.next();
                right
            }
        }
    }
}

/// The entries of a log by ascending start.
enum Sorted<'a> {
    /// One that is in order needs no memory.
    AsItIs(Entries<'a>),
    Merged(Merge),
}

impl Iterator for Sorted<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        match self {
            Self::AsItIs(entries) => entries.next(),
            Self::Merged(merge) => merge.next(),
        }
    }
}

fn sorted(log: &Log) -> Sorted<'_> {
    if log.is_sorted() { Sorted::AsItIs(log.iter()) } else { Sorted::Merged(Merge::of(log)) }
}

/// Blocks of a log, each sorted and packed again, which are merged as they are read.
struct Merge {
    blocks: Vec<Block>,
    /// The start with which a block continues, and which block that is.
    next: BinaryHeap<Reverse<(i64, usize)>>,
}

struct Block {
    next: Entry,
    rest: IntoEntries,
}

impl Merge {
    fn of(log: &Log) -> Self {
        let (mut entries, mut merge) = (log.iter(), Self { blocks: Vec::new(), next: BinaryHeap::new() });
        let mut block: Vec<Entry> = memory::list(BLOCK);
        loop {
            block.extend(entries.by_ref().take(BLOCK));
            block.sort_by_key(|entry| entry.start);
            let Some(first) = block.first() else { return merge };
            merge.next.push(Reverse((first.start, merge.blocks.len())));
            let mut packed = Log::default();
            block.drain(1..).for_each(|entry| packed.push(entry));
            merge.blocks.push(Block { next: block[0], rest: packed.into_iter() });
            block.clear();
        }
    }
}

impl Iterator for Merge {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let mut top = self.next.peek_mut()?;
        let place = top.0.1;
        let block = &mut self.blocks[place];
        let entry = block.next;
        match block.rest.next() {
            Some(next) => {
                block.next = next;
                top.0.0 = next.start;
            }
            None => {
                PeekMut::pop(top);
            }
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(starts: &[i64]) -> Log {
        let mut log = Log::default();
        for (what, &start) in (0..).zip(starts) {
            log.push(Entry { what, start, end: start + 1, bytes: 0, correlation: 0 });
        }
        log
    }

    proptest! {
        #[test]
        fn is_a_stable_sort(
            one in prop::collection::vec(-20_i64..20, 0..100),
            other in prop::collection::vec(-20_i64..20, 0..100),
        ) {
            let (one, other) = (log(&one), log(&other));
            let mut expected: Vec<Entry> = one.iter().chain(&other).collect();
            expected.sort_by_key(|entry| entry.start);
            prop_assert_eq!(in_order(&one, &other).collect::<Vec<_>>(), expected);
        }
    }
}
