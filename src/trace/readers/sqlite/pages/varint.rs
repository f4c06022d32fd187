//! SQLite's numbers of one to nine bytes.

/// The number at `at`, and where it ends. Nine bytes hold 64 bits: the last one gives all eight of its own.
pub(super) fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for _ in 0..8 {
        let byte = *bytes.get(at)?;
        at += 1;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    Some((value << 8 | u64::from(*bytes.get(at)?), at + 1))
}

/// The same, of which eight bytes at `at` are known to be there, for numbers that are mostly short.
#[inline]
pub(super) fn short_varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    match *bytes.get(at..at + 2)? {
        [one @ ..0x80, _] => Some((u64::from(one), at + 1)),
        [one, other @ ..0x80] => Some((u64::from(one & 0x7f) << 7 | u64::from(other), at + 2)),
        _ => varint(bytes, at),
    }
}

/// Returns the end of the number at `at`.
#[inline]
pub(super) fn end(bytes: &[u8], at: usize) -> Option<usize> {
    let word = u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    // Every byte but the last has its highest bit set; the ninth is always the last.
    let others = (!word & 0x8080_8080_8080_8080).leading_zeros() as usize / 8;
    Some(at + others + 1)
}

#[cfg(test)]
mod tests {
    use super::{end, short_varint, varint};

    #[test]
    fn agrees_with_itself() {
        for value in (0..64).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits]) {
            let mut bytes = vec![(value & 0x7f) as u8];
            (1..value.max(1).ilog2().div_ceil(7).min(8)).for_each(|group| {
                bytes.insert(0, (value >> (7 * group)) as u8 | 0x80);
            });
            let found = varint(&bytes, 0);
            let length = found.map(|(_, end)| end);
            bytes.resize(16, 0xff);
            assert_eq!(short_varint(&bytes, 0), found);
            assert_eq!(end(&bytes, 0), length);
        }
        assert_eq!(end(&[0xff; 9], 0), Some(9));
    }

    #[test]
    fn reads_every_length() {
        assert_eq!(varint(&[9, 0x7f], 1), Some((127, 2)));
        assert_eq!(varint(&[0x81, 0], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 5], 0), Some((5, 9)));
        for short in 0..9 {
            assert_eq!(varint(&[0xff; 9][..short], 0), None);
        }
    }
}
