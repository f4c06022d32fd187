//! Remembers the numbers of rows by their bytes as they lie in the file, which need not be taken apart for that.

use std::ops::Range;

use super::record::{FACTORS, Field, WORDS, equal, word};
use crate::trace::readers::sqlite::numbers::NONE;
use crate::trace::readers::sqlite::tally::Tally;

const SLOTS: usize = 1 << 11;

/// Up to eight bytes of a record.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    at: u32,
    shift: u32,
}

/// Places of the bytes of some columns in the records of a shape. Rows with more pieces are taken apart each time.
#[derive(Debug, Clone, Copy)]
struct Pieces {
    pieces: [Piece; WORDS],
    count: usize,
}

/// The bytes of such columns, and everything else that distinguishes rows.
#[derive(Debug, Clone, Copy)]
struct Bytes {
    words: [u64; WORDS],
    apart: u64,
}

impl Pieces {
    /// `None` if there are too many of them.
    fn new(fields: &[Field]) -> Option<Self> {
        let mut ranges: Vec<Range<usize>> = fields.iter().filter_map(|field| field.bytes()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => joined.push(range),
            }
        }
        let (mut pieces, mut count) = ([Piece::default(); WORDS], 0);
        for range in joined {
            for at in range.clone().step_by(8) {
                let width = (range.end - at).min(8);
                *pieces.get_mut(count)? = Piece { at: at as u32, shift: 64 - 8 * width as u32 };
                count += 1;
            }
        }
        Some(Self { pieces, count })
    }

    /// The bytes of a record; those of two shapes, or of two notes, differ by `apart`.
    fn of(&self, record: &[u8], apart: u64) -> Bytes {
        let mut words = [0; WORDS];
        for (word_of, piece) in words.iter_mut().zip(&self.pieces[..self.count]) {
            *word_of = word(record, piece.at as usize) >> piece.shift;
        }
        Bytes { words, apart }
    }
}

impl Bytes {
    fn slot(&self, count: usize) -> usize {
        let mut hash = self.apart.wrapping_mul(FACTORS[0].rotate_left(32));
        for (word, factor) in self.words[..count].iter().zip(FACTORS) {
            hash = hash.wrapping_add(word.wrapping_mul(factor));
        }
        (hash >> 40) as usize % SLOTS
    }
}

/// State of a shape.
#[derive(Debug, Clone, Copy)]
enum Known {
    Nothing,
    TooManyPieces,
    Pieces(Pieces),
}

/// Numbers of rows. A row takes the place of another that has the same slot.
#[derive(Debug)]
pub(super) struct Memo {
    slots: Vec<Option<(Bytes, u32)>>,
    /// By number of shape, as far as they have come up.
    pieces: Vec<Known>,
    /// The segment of the tally to which the numbers belong.
    segment: usize,
}

impl Memo {
    pub(super) fn new() -> Self {
        Self { slots: vec![None; SLOTS], pieces: Vec::new(), segment: 0 }
    }

    /// Returns the number of a record's `what` in a tally.
    pub(super) fn number<const K: usize>(
        &mut self,
        tally: &mut Tally<K>,
        (shape, what): (usize, &[Field]),
        record: &[u8],
        note: bool,
    ) -> u32 {
        let taken_apart =
            || (std::array::from_fn(|place| what.get(place).map_or(NONE, |field| field.of(record))), note);
        if self.pieces.len() <= shape {
            self.pieces.resize(shape + 1, Known::Nothing);
        }
        if let Known::Nothing = self.pieces[shape] {
            self.pieces[shape] = Pieces::new(what).map_or(Known::TooManyPieces, Known::Pieces);
        }
        let Known::Pieces(pieces) = self.pieces[shape] else {
            let number = tally.number(taken_apart());
            self.keep_up_with(tally);
            return number;
        };
        let bytes = pieces.of(record, (shape as u64) << 1 | u64::from(note));
        let slot = bytes.slot(pieces.count);
        match self.slots[slot] {
            Some((known, number)) if known.apart == bytes.apart && equal(&known.words, &bytes.words) => number,
            _ => {
                let number = tally.number(taken_apart());
                self.keep_up_with(tally);
                self.slots[slot] = Some((bytes, number));
                number
            }
        }
    }

    /// Forgets the numbers of a segment that has ended.
    fn keep_up_with<const K: usize>(&mut self, tally: &Tally<K>) {
        if tally.segment() != self.segment {
            self.segment = tally.segment();
            self.slots.fill(None);
        }
    }
}
