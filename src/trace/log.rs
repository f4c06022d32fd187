//! What happened, one entry after another, in the order in which it was read: some seven bytes each.
//!
//! An entry is a start, a duration, a number that says what it was and, in a log of memory operations, a size. Numbers take
//! as many bytes as they need, and starts are stored as the difference from the one before. Ten million kernels take 70 MB.

use std::sync::Arc;

/// Entries never cross the end of a chunk, and nothing is copied as a log grows or takes another over.
const CHUNK: usize = 1 << 18;
/// An entry takes 30 bytes at most. Numbers are read and written eight bytes at a time, whatever their length.
const ROOM: usize = 48;

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it was: a place in [`super::Trace::works`] or in [`super::Trace::callees`].
    pub what: u32,
    /// Nanoseconds on the capture's clock.
    pub start: i64,
    /// Never before the start.
    pub end: i64,
    /// The size of a memory operation, 0 otherwise.
    pub bytes: u64,
}

impl Entry {
    /// How long it took, in nanoseconds.
    pub fn duration(&self) -> u64 {
        self.end.abs_diff(self.start)
    }
}

/// A compact list of [`Entry`].
#[derive(Debug)]
pub struct Log {
    chunks: Vec<Chunk>,
    with_bytes: bool,
    len: u64,
    first_start: i64,
    last_start: i64,
    sorted: bool,
}

/// Some entries, which can be read without those in front of them.
#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    /// What the numbers of its entries stand for; themselves where there is none.
    renamed: Option<Arc<[u32]>>,
}

impl Log {
    /// An empty one; `with_bytes` if its entries have sizes.
    pub fn new(with_bytes: bool) -> Self {
        Self { chunks: Vec::new(), with_bytes, len: 0, first_start: i64::MAX, last_start: i64::MIN, sorted: true }
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        debug_assert!(entry.end >= entry.start, "an entry ends before it starts");
        let mut previous = self.last_start;
        if self.chunks.last().is_none_or(|chunk| chunk.renamed.is_some() || chunk.bytes.len() + ROOM > CHUNK) {
            self.chunks.push(Chunk { bytes: Vec::with_capacity(CHUNK), renamed: None });
            previous = 0;
        }
        if self.len == 0 {
            self.first_start = entry.start;
        }
        let Some(Chunk { bytes: chunk, .. }) = self.chunks.last_mut() else { return };
        let (start, duration) = (zigzag(entry.start.wrapping_sub(previous)), entry.duration());
        let what = u64::from(entry.what);
        let lengths = Lengths { start: length(start), duration: length(duration), what: length(what) };
        // Written where it stays: a copy of what has just been written would wait for it.
        let begin = chunk.len();
        chunk.extend_from_slice(&[0; ROOM]);
        let Some(bytes) = chunk[begin..].first_chunk_mut::<ROOM>() else { return };
        bytes[0] = lengths.pack();
        put(bytes, 1, start);
        put(bytes, lengths.duration_at(), duration);
        put(bytes, lengths.what_at(), what);
        let mut end = lengths.end();
        if self.with_bytes {
            bytes[end] = length(entry.bytes) as u8;
            put(bytes, end + 1, entry.bytes);
            end += 1 + length(entry.bytes);
        }
        chunk.truncate(begin + end);
        self.sorted &= entry.start >= self.last_start;
        self.last_start = entry.start;
        self.len += 1;
    }

    /// Takes over the entries of `other`, behind its own; `renamed` has what each of their numbers becomes.
    pub fn append(&mut self, other: Self, renamed: &Arc<[u32]>) {
        debug_assert_eq!(self.with_bytes, other.with_bytes, "only one of two logs has sizes");
        if other.len == 0 {
            return;
        }
        if self.len == 0 {
            self.first_start = other.first_start;
        }
        self.sorted &= other.sorted && other.first_start >= self.last_start;
        (self.last_start, self.len) = (other.last_start, self.len + other.len);
        self.chunks.extend(other.chunks.into_iter().map(|chunk| {
            let twice = |before: Arc<[u32]>| before.iter().map(|&what| renamed[what as usize]).collect();
            Chunk { renamed: Some(chunk.renamed.map_or_else(|| Arc::clone(renamed), twice)), ..chunk }
        }));
    }

    /// How many entries there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether no entry starts before the one in front of it.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// The entries, in the order in which they came.
    pub fn iter(&self) -> Entries<'_> {
        Entries { chunks: self.chunks.iter(), rest: &[], renamed: None, with_bytes: self.with_bytes, start: 0 }
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
    with_bytes: bool,
    start: i64,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        while self.rest.is_empty() {
            let chunk = self.chunks.next()?;
            (self.rest, self.renamed, self.start) = (&chunk.bytes, chunk.renamed.as_deref(), 0);
        }
        let mut last = [0; ROOM];
        let entry = self.rest.first_chunk().unwrap_or_else(|| {
            // Behind the last entries of a chunk there are too few bytes.
            last[..self.rest.len()].copy_from_slice(self.rest);
            &last
        });
        let lengths = Lengths::unpack(entry[0]);
        self.start = self.start.wrapping_add(unzigzag(number(entry, 1, lengths.start)));
        let duration = number(entry, lengths.duration_at(), lengths.duration);
        let what = number(entry, lengths.what_at(), lengths.what) as u32;
        let what = self.renamed.map_or(what, |renamed| renamed[what as usize]);
        let (mut bytes, mut end) = (0, lengths.end());
        if self.with_bytes {
            let length = usize::from(entry[end]);
            bytes = number(entry, end + 1, length);
            end += 1 + length;
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        Some(Entry { what, start: self.start, end: self.start.wrapping_add_unsigned(duration), bytes })
    }
}

/// How many bytes the numbers of an entry take, all of which fits into its first byte.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    start: usize,
    duration: usize,
    what: usize,
}

impl Lengths {
    fn pack(self) -> u8 {
        ((self.start - 1) | ((self.duration - 1) << 3) | ((self.what - 1) << 6)) as u8
    }

    fn unpack(byte: u8) -> Self {
        let byte = usize::from(byte);
        Self { start: (byte & 7) + 1, duration: (byte >> 3 & 7) + 1, what: (byte >> 6) + 1 }
    }

    fn duration_at(self) -> usize {
        1 + self.start
    }

    fn what_at(self) -> usize {
        1 + self.start + self.duration
    }

    fn end(self) -> usize {
        1 + self.start + self.duration + self.what
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// How many bytes a number takes: one at least.
fn length(value: u64) -> usize {
    8 - (value | 1).leading_zeros() as usize / 8
}

/// A number of so many bytes, with eight bytes from where it begins.
fn number(bytes: &[u8; ROOM], at: usize, length: usize) -> u64 {
    let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes);
    word & u64::MAX >> (64 - 8 * length)
}

/// Writes eight bytes of a number, of which those behind its length are written over.
fn put(bytes: &mut [u8; ROOM], at: usize, value: u64) {
    if let Some(place) = bytes.get_mut(at..at + 8) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gives_back_what_was_put_in(
            raw in prop::collection::vec((any::<u32>(), any::<i64>(), any::<i64>(), any::<u64>()), 0..200),
            with_bytes: bool,
        ) {
            let mut log = Log::new(with_bytes);
            let mut entries = Vec::new();
            for (what, one, other, bytes) in raw {
                let bytes = if with_bytes { bytes } else { 0 };
                let entry = Entry { what, start: one.min(other), end: one.max(other), bytes };
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
            let mut log = Log::new(false);
            for (start, &what) in (start..).zip(whats) {
                log.push(Entry { what, start, end: start + 1, bytes: 0 });
            }
            log
        };
        let found = |log: &Log| log.iter().map(|entry| (entry.what, entry.start)).collect::<Vec<_>>();
        let (mut inner, mut outer) = (part(&[0, 1], 10), part(&[5], 3));
        inner.append(part(&[1, 0], 12), &[7, 8].into());
        assert_eq!(found(&inner), [(0, 10), (1, 11), (8, 12), (7, 13)]);
        outer.append(inner, &[0, 10, 20, 30, 40, 50, 60, 70, 80].into());
        outer.push(Entry { what: 9, start: 13, end: 14, bytes: 0 });
        assert_eq!(found(&outer), [(5, 3), (0, 10), (10, 11), (80, 12), (70, 13), (9, 13)]);
        assert!(outer.is_sorted() && outer.len() == 6);
        outer.append(part(&[0], 12), &[2].into());
        assert!(!outer.is_sorted());
        let mut empty = Log::new(false);
        empty.append(part(&[0], 3), &[1].into());
        empty.append(Log::new(false), &[].into());
        assert!(empty.is_sorted());
        empty.append(part(&[0], 2), &[1].into());
        assert!(!empty.is_sorted());
    }

    #[test]
    fn fills_many_chunks() {
        let mut log = Log::new(false);
        for count in 0..200_000 {
            log.push(Entry {
                what: count % 7,
                start: i64::from(count) * 9_000,
                end: i64::from(count) * 9_000 + 5,
                bytes: 0,
            });
        }
        assert!(log.chunks.len() > 2);
        assert!(log.chunks.iter().all(|chunk| chunk.bytes.capacity() == CHUNK));
        assert_eq!(log.iter().map(|entry| entry.start / 9_000).max(), Some(199_999));
    }
}
