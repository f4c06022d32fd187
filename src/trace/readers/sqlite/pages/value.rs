//! Numbers and texts of a record. Texts are too different for [`super::record::Shapes`] to remember their records.

use super::btree::Payload;
use super::record::{Place, word};
use super::varint::short_varint;

/// The longest header. Tables have some forty columns.
const LONGEST: usize = 512;

/// Value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trace::readers) enum Value<'a> {
    Null,
    Number(i64),
    /// UTF-8 text, unless the file is damaged.
    Text(&'a [u8]),
    /// A fraction, or bytes.
    Other,
}

/// The columns of a table that are wanted.
pub(super) struct Columns<const N: usize> {
    /// For each column of the table up to the last one that is wanted, its place among those.
    wanted: Vec<Option<usize>>,
    null_if_short: bool,
}

impl<const N: usize> Columns<N> {
    pub(in crate::trace::readers) fn new(places: &[Place; N]) -> Self {
        let mut wanted = Vec::new();
        for (slot, column) in places.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.column?))) {
            wanted.resize(wanted.len().max(column + 1), None);
            wanted[column] = Some(slot);
        }
        Self { wanted, null_if_short: places.iter().all(|place| place.null_if_short) }
    }

    /// Returns the values of a record on `page`, if that is as usual.
    pub(in crate::trace::readers) fn of<'a>(&self, page: &'a [u8], payload: Payload) -> Option<[Value<'a>; N]> {
        let Payload { at: begin, length, is_whole: true } = payload else { return None };
        let (header, mut at) = short_varint(page, begin)?;
        let header = usize::try_from(header).ok().filter(|&header| header <= length.min(LONGEST))?;
        let (mut values, mut column, mut value_at) = ([Value::Null; N], 0, begin + header);
        while at < begin + header {
            let (kind, next) = short_varint(page, at)?;
            let end = value_at + width(kind)?;
            if let Some(&Some(slot)) = self.wanted.get(column) {
                values[slot] = match kind {
                    0 => Value::Null,
                    // Behind the page there are eight bytes.
                    1..=6 => Value::Number(word(page, value_at).cast_signed() >> (64 - 8 * (end - value_at))),
                    8 | 9 => Value::Number(i64::from(kind == 9)),
                    _ if kind >= 12 && kind % 2 == 1 => Value::Text(page.get(value_at..end)?),
                    _ => Value::Other,
                };
            }
            (at, value_at, column) = (next, end, column + 1);
        }
        // SQLite does not take a record without any column.
        let is_long_enough = column >= self.wanted.len() || self.null_if_short;
        let fits = at == begin + header && value_at == begin + length;
        (column > 0 && is_long_enough && fits).then_some(values)
    }
}

/// Returns the number of bytes of a value of a kind.
#[inline]
fn width(kind: u64) -> Option<usize> {
    match kind {
        0..=4 => Some(kind as usize),
        5 => Some(6),
        6 | 7 => Some(8),
        8 | 9 => Some(0),
        10 | 11 => None,
        // No row is longer than this.
        _ => usize::try_from(i32::try_from((kind - 12) / 2).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a record of two columns, followed by padding.
    fn found(record: &[u8], length: usize) -> Option<[Value<'_>; 2]> {
        let places = [1, 0].map(|column| Place { column: Some(column), null_if_short: true });
        Columns::new(&places).of(record, Payload { at: 0, length, is_whole: true })
    }

    #[test]
    fn takes_numbers_and_texts_apart() {
        let mut record = vec![3, 1, 17, 0xfe, b'a', b'b'];
        record.extend([0; 8]);
        assert_eq!(found(&record, 6), Some([Value::Text(b"ab"), Value::Number(-2)]));
        assert_eq!(found(&record, 5), None);
        assert_eq!(found(&record, 7), None);
        let short = [&[2, 9][..], &[0; 8]].concat();
        assert_eq!(found(&short, 2), Some([Value::Null, Value::Number(1)]));
    }

    #[test]
    fn leaves_what_no_record_holds() {
        // No column, a reserved kind, a header that ends within a number, a text longer than the row.
        for record in [
            &[1][..],
            &[2, 10],
            &[2, 0x81, 0x01],
            &[3, 0xff, 0x7f],
            &[9, 0x8f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ] {
            let record = [record, &[0; 8]].concat();
            for length in 0..12 {
                assert_eq!(found(&record, length), None, "{record:?} {length}");
            }
        }
    }
}
