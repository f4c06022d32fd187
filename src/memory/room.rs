//! Collections that ask for the memory into which they grow.

use std::collections::{BinaryHeap, HashMap, HashSet, TryReserveError, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::io::{self, Write};
use std::sync::Arc;

use super::cushion::fallibly;
use super::{check, fail, probe};

/// A collection that grows.
pub(crate) trait Room {
    /// An element.
    type Item;

    /// Number of elements that still fit.
    fn free(&self) -> usize;

    /// Asks for memory for so many more.
    fn ask(&mut self, more: usize) -> Result<(), TryReserveError>;

    /// Takes an element for which there is room.
    fn take_in(&mut self, item: Self::Item);

    /// Makes sure that so many more fit, or ends the call.
    #[inline]
    fn room(&mut self, more: usize) {
        if self.free() < more {
            grow(self, more);
        }
    }

    /// Adds an element, or ends the call where there is no memory for it.
    #[inline]
    fn put(&mut self, item: Self::Item) {
        self.room(1);
        self.take_in(item);
    }
}

#[cold]
fn grow<C: Room + ?Sized>(collection: &mut C, more: usize) {
    check();
    if fallibly(|| collection.ask(more)).is_err() {
        // At least that: collections double as they grow.
        fail(more.checked_mul(size_of::<C::Item>()));
    }
}

macro_rules! room {
    ([$($generics:tt)*] $collection:ty, $item:ty, $take_in:expr) => {
        impl<$($generics)*> Room for $collection {
            type Item = $item;

            #[inline]
            fn free(&self) -> usize {
                self.capacity() - self.len()
            }

            fn ask(&mut self, more: usize) -> Result<(), TryReserveError> {
                self.try_reserve(more)
            }

            #[inline]
            fn take_in(&mut self, item: $item) {
                let take_in: fn(&mut Self, $item) = $take_in;
                take_in(self, item);
            }
        }
    };
}

room!([T] Vec<T>, T, |list, item| list.push(item));
room!([T] VecDeque<T>, T, |queue, item| queue.push_back(item));
room!([T: Ord] BinaryHeap<T>, T, |heap, item| heap.push(item));
room!([T: Eq + Hash, S: BuildHasher] HashSet<T, S>, T, |set, item| drop(set.replace(item)));
room!([K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>, (K, V), |map, (key, value)| drop(map.insert(key, value)));

/// An empty list with room for so many, if there is memory for them.
pub(crate) fn try_list<T>(length: usize) -> Option<Vec<T>> {
    let mut list = Vec::new();
    fallibly(|| list.try_reserve_exact(length)).ok()?;
    Some(list)
}

/// The same; else the call ends.
pub(crate) fn list<T>(length: usize) -> Vec<T> {
    try_list(length).unwrap_or_else(|| fail(length.checked_mul(size_of::<T>())))
}

/// So many of one value.
pub(crate) fn filled<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut list = list(length);
    list.resize(length, value);
    list
}

/// Collects the items of an iterator.
pub(crate) fn collected<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let items = items.into_iter();
    let (least, most) = items.size_hint();
    let mut found = list(least);
    if most == Some(least) {
        // Quicker than one by one, and there is room for all.
        found.extend(items);
    } else {
        items.for_each(|item| found.put(item));
    }
    found
}

/// Collects the items of an iterator into a collection of another kind.
pub(crate) fn gathered<C: Room + Default>(items: impl IntoIterator<Item = C::Item>) -> C {
    let mut found = C::default();
    items.into_iter().for_each(|item| found.put(item));
    found
}

/// Collects the items of an iterator of known length into a shared slice.
pub(crate) fn shared<T>(items: impl ExactSizeIterator<Item = T>) -> Arc<[T]> {
    probe(size_of::<T>().saturating_mul(items.len()));
    items.collect()
}

/// A copy.
pub(crate) fn copied<T: Copy>(items: &[T]) -> Vec<T> {
    let mut copy = list(items.len());
    copy.extend_from_slice(items);
    copy
}

/// Bytes that are written one after another.
#[derive(Debug, Default)]
pub(crate) struct Grown(pub(crate) Vec<u8>);

impl Write for Grown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.room(bytes.len());
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Extend<u8> for Grown {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        let bytes = bytes.into_iter();
        self.0.room(bytes.size_hint().0);
        self.0.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use rustc_hash::{FxHashMap, FxHashSet};

    use super::*;
    use crate::memory::OutOfMemory;

    /// More than any address space has.
    const HUGE: usize = isize::MAX as usize / 64;

    fn bytes_wanted(work: impl FnOnce()) -> Option<usize> {
        let payload = catch_unwind(AssertUnwindSafe(work)).expect_err("there is not so much memory");
        payload.downcast::<OutOfMemory>().ok().and_then(|lack| lack.bytes)
    }

    #[test]
    fn what_there_is_no_memory_for_ends_the_call() {
        assert_eq!(bytes_wanted(|| drop(list::<u64>(HUGE))), Some(8 * HUGE));
        assert_eq!(bytes_wanted(|| drop(list::<u64>(usize::MAX))), None);
        assert_eq!(bytes_wanted(|| drop(filled(0_u16, HUGE))), Some(2 * HUGE));
        assert_eq!(bytes_wanted(|| vec![0_u32].room(HUGE)), Some(4 * HUGE));
        assert_eq!(bytes_wanted(|| FxHashSet::<u8>::default().room(HUGE)), Some(HUGE));
        assert!(bytes_wanted(|| FxHashMap::<u8, u64>::default().room(HUGE)).is_some());
        assert_eq!(bytes_wanted(|| drop(collected((0..HUGE).map(|_| [0_u64; 8])))), Some(64 * HUGE));
    }

    #[test]
    fn there_is_room_for_what_was_asked_for() {
        let mut list = Vec::new();
        for number in 0..1000 {
            list.room(1);
            let before = list.capacity();
            list.push(number);
            assert_eq!(list.capacity(), before);
        }
        assert_eq!(collected(list.iter().filter(|number| **number > 997)), [&998, &999]);
        assert_eq!((copied(&list[..2]), filled(7, 2)), (vec![0, 1], vec![7, 7]));
        let mut text = Grown::default();
        write!(text, "{}", 12).expect("memory");
        text.extend([b'3']);
        assert_eq!(text.0, b"123");
    }
}
