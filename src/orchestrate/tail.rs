//! The last part of a stream, in constant memory.

/// Number of bytes of each stream that are kept.
pub const TAIL_BYTES: usize = 64 * 1024;

/// The last [`TAIL_BYTES`] of the pushed bytes.
#[derive(Debug, Default)]
pub struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    /// Adds a chunk of any length.
    pub fn push(&mut self, chunk: &[u8]) {
        if chunk.len() >= TAIL_BYTES {
            self.bytes.clear();
            self.bytes.extend_from_slice(&chunk[chunk.len() - TAIL_BYTES..]);
            return;
        }
        // Cut back only when twice as much has gathered, so that a byte is moved once.
        if self.bytes.len() + chunk.len() > 2 * TAIL_BYTES {
            let surplus = self.bytes.len() + chunk.len() - TAIL_BYTES;
            self.bytes.drain(..surplus);
        }
        self.bytes.extend_from_slice(chunk);
    }

    /// Returns the bytes that are kept.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(TAIL_BYTES)..]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_end_of_everything_that_was_pushed(lengths in prop::collection::vec(0_usize..100_000, 0..8)) {
            let mut tail = Tail::default();
            let mut all = Vec::new();
            for (index, length) in lengths.into_iter().enumerate() {
                let chunk: Vec<u8> = (0..length).map(|position| (position * 31 + index) as u8).collect();
                tail.push(&chunk);
                all.extend_from_slice(&chunk);
                prop_assert_eq!(tail.bytes(), &all[all.len().saturating_sub(TAIL_BYTES)..]);
                prop_assert!(tail.bytes.len() <= 2 * TAIL_BYTES);
            }
        }
    }
}
