//! The bytes of an entry: two with the lengths of its numbers, then the numbers.

use super::Entry;

/// An entry takes 38 bytes at most. Numbers are read and written eight bytes at a time, whatever their length.
pub(super) const ROOM: usize = 56;

/// Numbers of the entry before, of which an entry stores the differences.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) start: i64,
    pub(super) correlation: u64,
}

impl Before {
    /// Writes an entry, and returns the number of its bytes.
    #[inline]
    pub(super) fn pack(self, entry: &Entry, bytes: &mut [u8; ROOM]) -> usize {
        let (start, duration) = (zigzag(entry.start.wrapping_sub(self.start)), entry.duration());
        let what = u64::from(entry.what);
        let correlation = zigzag(entry.correlation.wrapping_sub(self.correlation).cast_signed());
        let lengths = Lengths {
            start: length(start),
            duration: length(duration),
            what: length(what),
            correlation: length_or_none(correlation),
            bytes: length_or_none(entry.bytes),
        };
        [bytes[0], bytes[1]] = lengths.pack();
        put(bytes, STARTS_AT, start);
        put(bytes, lengths.duration_at(), duration);
        put(bytes, lengths.what_at(), what);
        put(bytes, lengths.correlation_at(), correlation);
        put(bytes, lengths.bytes_at(), entry.bytes);
        lengths.end()
    }

    /// Reads the entry with which `rest` begins, and returns it with the number of its bytes.
    #[inline]
    pub(super) fn unpack(&mut self, rest: &[u8], renamed: Option<&[u32]>) -> (Entry, usize) {
        let mut last = [0; ROOM];
        let entry = rest.first_chunk().unwrap_or_else(|| {
            // Behind the last entries of a chunk there are too few bytes.
            last[..rest.len()].copy_from_slice(rest);
            &last
        });
        let lengths = Lengths::unpack([entry[0], entry[1]]);
        self.start = self.start.wrapping_add(unzigzag(number(entry, STARTS_AT, lengths.start)));
        let duration = number(entry, lengths.duration_at(), lengths.duration);
        let what = number(entry, lengths.what_at(), lengths.what) as u32;
        let what = renamed.map_or(what, |renamed| renamed[what as usize]);
        let correlation = unzigzag(number_or_none(entry, lengths.correlation_at(), lengths.correlation));
        self.correlation = self.correlation.wrapping_add(correlation.cast_unsigned());
        let bytes = number_or_none(entry, lengths.bytes_at(), lengths.bytes);
        let end = self.start.wrapping_add_unsigned(duration);
        (Entry { what, start: self.start, end, bytes, correlation: self.correlation }, lengths.end())
    }
}

/// The numbers of an entry follow their lengths.
const STARTS_AT: usize = 2;

/// Lengths of the numbers of an entry, in bytes. All of them fit into its first two bytes.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    start: usize,
    duration: usize,
    what: usize,
    /// None where it is that of the entry before.
    correlation: usize,
    /// None where there is no size.
    bytes: usize,
}

impl Lengths {
    fn pack(self) -> [u8; 2] {
        let first = (self.start - 1) | ((self.duration - 1) << 3) | ((self.what - 1) << 6);
        [first as u8, (self.correlation | self.bytes << 4) as u8]
    }

    fn unpack([first, second]: [u8; 2]) -> Self {
        let (first, second) = (usize::from(first), usize::from(second));
        Self {
            start: (first & 7) + 1,
            duration: (first >> 3 & 7) + 1,
            what: (first >> 6) + 1,
            correlation: (second & 15).min(8),
            bytes: (second >> 4).min(8),
        }
    }

    fn duration_at(self) -> usize {
        STARTS_AT + self.start
    }

    fn what_at(self) -> usize {
        self.duration_at() + self.duration
    }

    fn correlation_at(self) -> usize {
        self.what_at() + self.what
    }

    fn bytes_at(self) -> usize {
        self.correlation_at() + self.correlation
    }

    fn end(self) -> usize {
        self.bytes_at() + self.bytes
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Length of a number in bytes, at least one.
fn length(value: u64) -> usize {
    8 - (value | 1).leading_zeros() as usize / 8
}

/// The same, and 0 for the number 0.
fn length_or_none(value: u64) -> usize {
    8 - value.leading_zeros() as usize / 8
}

/// A number of so many bytes, with eight bytes from where it begins.
fn number(bytes: &[u8; ROOM], at: usize, length: usize) -> u64 {
    let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes);
    word & u64::MAX >> (64 - 8 * length)
}

/// The same; 0 for no bytes.
fn number_or_none(bytes: &[u8; ROOM], at: usize, length: usize) -> u64 {
    if length == 0 { 0 } else { number(bytes, at, length) }
}

/// Writes eight bytes of a number, of which those behind its length are written over.
fn put(bytes: &mut [u8; ROOM], at: usize, value: u64) {
    if let Some(place) = bytes.get_mut(at..at + 8) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}
