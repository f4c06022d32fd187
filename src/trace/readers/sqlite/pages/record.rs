//! Records: a header with the form of every column, then their values one behind the other.

use rustc_hash::FxHashMap;

use super::btree::Payload;
use super::varint::{short_varint, varint};
use super::{Stop, usual};
use crate::trace::readers::sqlite::numbers::NONE;

/// A table has some hundred shapes: one for each combination of its numbers' lengths.
const MOST: usize = 1 << 12;
/// The longest header. Tables have some forty columns.
const LONGEST: usize = 512;
/// Number of words up to which headers are distinguished by them, the last ones of so many slots.
pub(super) const WORDS: usize = 8;
const SLOTS: usize = 1 << 9;

/// Place of a column in records.
#[derive(Debug, Clone, Copy)]
pub(in crate::trace::readers) struct Place {
    /// Its number among the columns of the table; `None` for one that the table does not have.
    pub(in crate::trace::readers) column: Option<usize>,
    /// True if rows that are older than the column hold NULL there.
    pub(in crate::trace::readers) null_if_short: bool,
}

/// Extraction of a number from a record: eight bytes from `at` on, moved and masked; or `constant`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    at: u32,
    shift: u32,
    mask: i64,
    constant: i64,
}

impl Field {
    const NULL: Self = Self::constant(NONE);

    const fn constant(constant: i64) -> Self {
        Self { at: 0, shift: 0, mask: 0, constant }
    }

    /// A number of so many bytes.
    fn number(at: usize, width: usize) -> Self {
        Self { at: at as u32, shift: 64 - 8 * width as u32, mask: -1, constant: 0 }
    }

    /// The number, out of a record with eight bytes behind it.
    pub(super) fn of(self, record: &[u8]) -> i64 {
        word(record, self.at as usize).cast_signed() >> self.shift & self.mask | self.constant
    }

    /// Returns the places of its bytes.
    pub(super) fn bytes(self) -> Option<std::ops::Range<usize>> {
        (self.mask != 0).then(|| self.at as usize..self.at as usize + (8 - self.shift as usize / 8))
    }
}

/// Eight bytes as a number.
pub(super) fn word(record: &[u8], at: usize) -> u64 {
    record.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes)
}

/// A sum of products makes a hash, none of which waits for another.
pub(super) const FACTORS: [u64; WORDS] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x8ebc_6af0_9c88_c6e3,
    0x5899_65cc_7537_4cc3,
];

/// Compares words, without the call that comparing arrays takes.
#[inline]
pub(super) fn equal<const N: usize>(one: &[u64; N], other: &[u64; N]) -> bool {
    one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

/// Common properties of the records with one header.
#[derive(Debug)]
struct Shape {
    /// Length of header and values together.
    length: usize,
    fields: Option<Box<[Field]>>,
}

impl Shape {
    fn new(header: &[u8], places: &[Place]) -> Option<Self> {
        let (_, mut at) = varint(header, 0)?;
        let (mut columns, mut end) = (Vec::new(), header.len());
        while at < header.len() {
            let (kind, next) = varint(header, at)?;
            let (field, width) = column(kind, end)?;
            columns.push(field);
            (at, end) = (next, end.checked_add(width)?);
        }
        // SQLite does not take a record without any column.
        if columns.is_empty() {
            return None;
        }
        let mut fields = Vec::with_capacity(places.len());
        for place in places {
            fields.push(match place.column.map(|column| columns.get(column)) {
                Some(Some(&field)) => field,
                None => Some(Field::NULL),
                Some(None) if place.null_if_short => Some(Field::NULL),
                Some(None) => return None,
            });
        }
        Some(Self { length: end, fields: fields.into_iter().collect() })
    }
}

/// A value of a kind that lies at `at`, if it is a number or NULL, and how many bytes it takes.
fn column(kind: u64, at: usize) -> Option<(Option<Field>, usize)> {
    let number = |width: usize| Some((Some(Field::number(at, width)), width));
    match kind {
        0 => Some((Some(Field::NULL), 0)),
        1..=4 => number(kind as usize),
        5 => number(6),
        6 => number(8),
        // A fraction.
        7 => Some((None, 8)),
        8 | 9 => Some((Some(Field::constant(i64::from(kind == 9))), 0)),
        10 | 11 => None,
        _ => Some((None, usize::try_from((kind - 12) / 2).ok()?)),
    }
}

/// Every shape that has been seen.
#[derive(Debug)]
pub(super) struct Shapes<'a> {
    places: &'a [Place],
    all: Vec<Shape>,
    by_header: FxHashMap<Box<[u8]>, usize>,
    /// The last shape of every slot, by its header.
    slots: Vec<Option<(Header, u32)>>,
}

/// A short header, with zeros behind it.
#[derive(Debug, Clone, Copy)]
struct Header([u64; WORDS]);

impl Header {
    /// The header of so many bytes at `at`. The first byte says how many, so that no two headers are equal here.
    fn load(page: &[u8], at: usize, length: usize) -> Option<(Self, usize)> {
        let (mut words, mut hash) = ([0; WORDS], 0_u64);
        let (whole, rest) = (length / 8, length % 8);
        let header = page.get(at..at + length.next_multiple_of(8))?;
        for (place, bytes) in header.chunks_exact(8).enumerate() {
            let word = word(bytes, 0);
            *words.get_mut(place)? = if place == whole { word & !(u64::MAX >> (8 * rest)) } else { word };
            hash = hash.wrapping_add(words[place].wrapping_mul(FACTORS[place]));
        }
        Some((Self(words), (hash >> 40) as usize % SLOTS))
    }
}

impl<'a> Shapes<'a> {
    pub(super) fn new(places: &'a [Place]) -> Self {
        Self { places, all: Vec::new(), by_header: FxHashMap::default(), slots: vec![None; SLOTS] }
    }

    /// The number of the shape of a record on `page`.
    pub(super) fn find(&mut self, page: &[u8], payload: Payload) -> Result<usize, Stop> {
        let Payload { at, length, is_whole: true } = payload else { return Err(Stop::Unusual) };
        let (header, _) = usual(short_varint(page, at))?;
        let header = usual(usize::try_from(header).ok().filter(|&header| header <= length.min(LONGEST)))?;
        let found = match Header::load(page, at, header) {
            Some((known, slot)) => match self.slots[slot] {
                Some((last, shape)) if equal(&last.0, &known.0) => shape as usize,
                _ => {
                    let shape = self.look_up(usual(page.get(at..at + header))?)?;
                    self.slots[slot] = Some((known, shape as u32));
                    shape
                }
            },
            None => self.look_up(usual(page.get(at..at + header))?)?,
        };
        if self.all[found].length == length { Ok(found) } else { Err(Stop::Unusual) }
    }

    fn look_up(&mut self, header: &[u8]) -> Result<usize, Stop> {
        if let Some(&found) = self.by_header.get(header) {
            return Ok(found);
        }
        if self.all.len() == MOST {
            return Err(Stop::Unusual);
        }
        self.all.push(usual(Shape::new(header, self.places))?);
        self.by_header.insert(header.into(), self.all.len() - 1);
        Ok(self.all.len() - 1)
    }

    /// Returns the extraction of the wanted columns; `None` if one of them is not a number.
    pub(super) fn fields(&self, shape: usize) -> Option<&[Field]> {
        self.all[shape].fields.as_deref()
    }
}
