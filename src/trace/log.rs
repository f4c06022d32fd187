//! What happened, one entry after another, in the order in which it was read: some seven bytes each.
//!
//! An entry is a start, a duration, a number that says what it was and, in a log of memory operations, a size. Numbers are
//! stored as varints, starts as the difference from the one before. Ten million kernels take 70 MB.

/// Entries never cross the end of a chunk, and nothing is copied as a log grows.
const CHUNK: usize = 1 << 18;
/// Four varints of ten bytes.
const LONGEST: usize = 40;

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it was: a number of [`super::Works`] or of [`super::Names`].
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
    chunks: Vec<Vec<u8>>,
    with_bytes: bool,
    len: u64,
    last_start: i64,
    sorted: bool,
}

impl Log {
    /// An empty one; `with_bytes` if its entries have sizes.
    pub fn new(with_bytes: bool) -> Self {
        Self { chunks: Vec::new(), with_bytes, len: 0, last_start: i64::MIN, sorted: true }
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        debug_assert!(entry.end >= entry.start, "an entry ends before it starts");
        if self.chunks.last().is_none_or(|chunk| chunk.len() + LONGEST > CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let previous = if self.len == 0 { 0 } else { self.last_start };
        let Some(chunk) = self.chunks.last_mut() else { return };
        put(chunk, zigzag(entry.start.wrapping_sub(previous)));
        put(chunk, entry.duration());
        put(chunk, u64::from(entry.what));
        if self.with_bytes {
            put(chunk, entry.bytes);
        }
        self.sorted &= entry.start >= self.last_start;
        self.last_start = entry.start;
        self.len += 1;
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
        Entries { chunks: self.chunks.iter(), rest: &[], with_bytes: self.with_bytes, start: 0 }
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
    chunks: std::slice::Iter<'a, Vec<u8>>,
    rest: &'a [u8],
    with_bytes: bool,
    start: i64,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while self.rest.is_empty() {
            self.rest = self.chunks.next()?;
        }
        self.start = self.start.wrapping_add(unzigzag(take(&mut self.rest)));
        let duration = take(&mut self.rest);
        let what = take(&mut self.rest) as u32;
        let bytes = if self.with_bytes { take(&mut self.rest) } else { 0 };
        Some(Entry { what, start: self.start, end: self.start.wrapping_add_unsigned(duration), bytes })
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn put(chunk: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        chunk.push(value as u8 | 0x80);
        value >>= 7;
    }
    chunk.push(value as u8);
}

fn take(rest: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some((&byte, tail)) = rest.split_first() {
        *rest = tail;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
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
        assert!(log.chunks.iter().all(|chunk| chunk.capacity() == CHUNK));
        assert_eq!(log.iter().map(|entry| entry.start / 9_000).max(), Some(199_999));
    }
}
