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

#[cfg(test)]
mod tests {
    use super::varint;

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
