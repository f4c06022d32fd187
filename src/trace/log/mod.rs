//! Log of events in the order in which they were read: some nine bytes each.
//!
//! An entry is a start, a duration, a number of its work or function, the number that joins an operation with the call that
//! launched it and, for a memory operation, a size. Numbers take as many bytes as they need; starts and correlations are stored
//! as the difference from the one before. Ten million kernels take 90 MB.

mod packed;

use std::borrow::Cow;
use std::sync::Arc;

use packed::{Before, ROOM};

use crate::memory;

/// Entries never cross the end of a chunk, and hardly anything is copied as a log grows or takes another over.
const CHUNK: usize = 1 << 18;

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Place in [`super::Trace::works`] or in [`super::Trace::callees`].
    pub what: u32,
    /// Nanoseconds on the capture's clock.
    pub start: i64,
    /// Never before the start.
    pub end: i64,
    /// The size of a memory operation, 0 otherwise.
    pub bytes: u64,
    /// Correlation ID that an operation shares with the call that launched it, within their process; 0 if unknown.
    pub correlation: u64,
}

impl Entry {
    /// Returns the duration in nanoseconds.
    pub fn duration(&self) -> u64 {
        self.end.abs_diff(self.start)
    }
}

/// A compact list of [`Entry`].
#[derive(Debug)]
pub struct Log {
    chunks: Vec<Chunk>,
    len: u64,
    first_start: i64,
    last_start: i64,
    last_correlation: u64,
    sorted: bool,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
            first_start: i64::MAX,
            last_start: i64::MIN,
            last_correlation: 0,
            sorted: true,
        }
    }
}

/// Some entries, which can be read without those in front of them.
#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    /// Mapping of the numbers of its entries; identity if `None`.
    renamed: Option<Arc<[u32]>>,
}

impl Log {
    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        debug_assert!(entry.end >= entry.start, "an entry ends before it starts");
        let mut previous = Before { start: self.last_start, correlation: self.last_correlation };
        if self.chunks.last().is_none_or(|chunk| chunk.renamed.is_some() || chunk.bytes.len() + ROOM > CHUNK) {
            self.chunks.push(Chunk { bytes: memory::list(CHUNK), renamed: None });
            previous = Before::default();
        }
        if self.len == 0 {
            self.first_start = entry.start;
        }
        let Some(Chunk { bytes: chunk, .. }) = self.chunks.last_mut() else { return };
        // Written where it stays: a copy of what has just been written would wait for it.
        let begin = chunk.len();
        chunk.extend_from_slice(&[0; ROOM]);
        let Some(bytes) = chunk[begin..].first_chunk_mut::<ROOM>() else { return };
        let length = previous.pack(&entry, bytes);
        chunk.truncate(begin + length);
        self.sorted &= entry.start >= self.last_start;
        (self.last_start, self.last_correlation) = (entry.start, entry.correlation);
        self.len += 1;
    }

    /// Appends the entries of `other`; `renamed` has the new number of each of their numbers.
    pub fn append(&mut self, other: Self, renamed: &Arc<[u32]>) {
        if other.len == 0 {
            return;
        }
        if self.len == 0 {
            self.first_start = other.first_start;
        }
        self.sorted &= other.sorted && other.first_start >= self.last_start;
        (self.last_start, self.len) = (other.last_start, self.len + other.len);
        // Chunks that share a table go on sharing one.
        let mut last: Option<[Arc<[u32]>; 2]> = None;
        let mut twice = |before: Arc<[u32]>| {
            if let Some([_, both]) = last.as_ref().filter(|[known, _]| Arc::ptr_eq(known, &before)) {
                return Arc::clone(both);
            }
            let both = memory::shared(before.iter().map(|&what| renamed[what as usize]));
            last = Some([before, Arc::clone(&both)]);
            both
        };
        self.chunks.extend(other.chunks.into_iter().map(|mut chunk| {
            // Nothing is added to it any more, and of a thousand files each has a last one.
            if chunk.bytes.len() < CHUNK / 2 {
                chunk.bytes.shrink_to_fit();
            }
            let renamed = chunk.renamed.map_or_else(|| Arc::clone(renamed), &mut twice);
            Chunk { renamed: Some(renamed), ..chunk }
        }));
    }

    /// Returns the number of entries.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true without entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if no entry starts before the one in front of it.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// The log that these chunks of another make; `None` where an entry ends before it starts.
    pub(super) fn from_chunks(chunks: &[&[u8]]) -> Option<Self> {
        let mut log = Self::default();
        for rest in chunks {
            for entry in Entries::of(rest) {
                (entry.end >= entry.start).then_some(())?;
                log.push(entry);
            }
        }
        Some(log)
    }

    /// The entries as bytes, in chunks that can be read apart.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        self.chunks.iter().flat_map(|chunk| {
            if chunk.renamed.is_none() {
                return vec![Cow::Borrowed(chunk.bytes.as_slice())];
            }
            let mut plain = Self::default();
            Entries { renamed: chunk.renamed.as_deref(), ..Entries::of(&chunk.bytes) }
                .for_each(|entry| plain.push(entry));
            plain.chunks.into_iter().map(|chunk| Cow::Owned(chunk.bytes)).collect()
        })
    }

    /// The entries, in the order in which they came.
    pub fn iter(&self) -> Entries<'_> {
        Entries { chunks: self.chunks.iter(), ..Entries::of(&[]) }
    }
}

impl<'a> Entries<'a> {
    /// Those of one chunk.
    fn of(rest: &'a [u8]) -> Self {
        Self { chunks: [].iter(), rest, renamed: None, before: Before::default() }
    }
}

impl<'a> IntoIterator for &'a Log {
    type Item = Entry;
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

/// The entries of a [`Log`].
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    chunks: std::slice::Iter<'a, Chunk>,
    rest: &'a [u8],
    renamed: Option<&'a [u32]>,
    before: Before,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        while self.rest.is_empty() {
            let chunk = self.chunks.next()?;
            (self.rest, self.renamed, self.before) = (&chunk.bytes, chunk.renamed.as_deref(), Before::default());
        }
        let (entry, length) = self.before.unpack(self.rest, self.renamed);
        self.rest = self.rest.get(length..).unwrap_or_default();
        Some(entry)
    }
}

/// The entries of a [`Log`] of their own: each chunk is freed when it has been read.
#[derive(Debug)]
pub struct IntoEntries {
    chunks: std::vec::IntoIter<Chunk>,
    chunk: Chunk,
    at: usize,
    before: Before,
}

impl Iterator for IntoEntries {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        while self.at >= self.chunk.bytes.len() {
            self.chunk = self.chunks.next()?;
            (self.at, self.before) = (0, Before::default());
        }
        let (entry, length) = self.before.unpack(&self.chunk.bytes[self.at..], self.chunk.renamed.as_deref());
        self.at += length;
        Some(entry)
    }
}

impl IntoIterator for Log {
    type Item = Entry;
    type IntoIter = IntoEntries;

    fn into_iter(self) -> IntoEntries {
        let chunk = Chunk { bytes: Vec::new(), renamed: None };
        IntoEntries { chunks: self.chunks.into_iter(), chunk, at: 0, before: Before::default() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of any length, and none.
    fn numbers() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..=64).prop_map(|(number, shift)| number.checked_shr(shift).unwrap_or(0))
    }

    fn entry(what: u32, start: i64, end: i64) -> Entry {
        Entry { what, start, end, bytes: 0, correlation: 0 }
    }

    proptest! {
        #[test]
        fn gives_back_what_was_put_in(
            raw in prop::collection::vec((any::<u32>(), any::<i64>(), any::<i64>(), numbers(), numbers()), 0..200),
        ) {
            let mut log = Log::default();
            let mut entries = Vec::new();
            for (what, one, other, bytes, correlation) in raw {
                let entry = Entry { what, start: one.min(other), end: one.max(other), bytes, correlation };
                log.push(entry);
                entries.push(entry);
            }
            prop_assert_eq!(log.len(), entries.len() as u64);
            prop_assert_eq!(log.is_sorted(), entries.is_sorted_by_key(|entry| entry.start));
            prop_assert_eq!(log.iter().collect::<Vec<_>>(), entries);
        }
    }

    #[test]
    fn takes_others_over() {
        let part = |whats: &[u32], start: i64| {
            let mut log = Log::default();
            for (start, &what) in (start..).zip(whats) {
                log.push(entry(what, start, start + 1));
            }
            log
        };
        let found = |log: &Log| log.iter().map(|entry| (entry.what, entry.start)).collect::<Vec<_>>();
        let (mut inner, mut outer) = (part(&[0, 1], 10), part(&[5], 3));
        inner.append(part(&[1, 0], 12), &[7, 8].into());
        assert_eq!(found(&inner), [(0, 10), (1, 11), (8, 12), (7, 13)]);
        outer.append(inner, &[0, 10, 20, 30, 40, 50, 60, 70, 80].into());
        outer.push(entry(9, 13, 14));
        assert_eq!(found(&outer), [(5, 3), (0, 10), (10, 11), (80, 12), (70, 13), (9, 13)]);
        assert!(outer.is_sorted() && outer.len() == 6);
        outer.append(part(&[0], 12), &[2].into());
        assert!(!outer.is_sorted());
        let mut empty = Log::default();
        empty.append(part(&[0], 3), &[1].into());
        empty.append(Log::default(), &[].into());
        assert!(empty.is_sorted());
        empty.append(part(&[0], 2), &[1].into());
        assert!(!empty.is_sorted());
    }

    #[test]
    fn fills_many_chunks() {
        let mut log = Log::default();
        for count in 0..200_000 {
            log.push(entry(count % 7, i64::from(count) * 9_000, i64::from(count) * 9_000 + 5));
        }
        assert!(log.chunks.len() > 2);
        assert!(log.chunks.iter().all(|chunk| chunk.bytes.capacity() == CHUNK));
        assert_eq!(log.iter().map(|entry| entry.start / 9_000).max(), Some(199_999));
    }
}
