//! Long pieces of text that repeat, with their parsed value: one comparison replaces several members, numbers and lookups.

/// Pieces of text with their values. A value must depend on its text alone.
#[derive(Debug)]
pub(super) struct Phrases<T> {
    slots: Vec<Vec<(Box<[u8]>, T)>>,
}

/// Number of slots, a power of two.
const SLOTS: usize = 256;
/// Most phrases of a slot.
const MOST: usize = 8;
/// Longest phrase in bytes.
const LONGEST: usize = 512;

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| Vec::new()).collect() }
    }
}

impl<T: Copy> Phrases<T> {
    /// Returns the value and the length of the phrase at the beginning of `text`; `key` is the one it was added with.
    #[inline]
    pub(super) fn find(&self, key: u64, text: &[u8]) -> Option<(T, usize)> {
        let (phrase, value) = self.slots[slot(key)].iter().find(|(phrase, _)| text.starts_with(phrase))?;
        Some((*value, phrase.len()))
    }

    /// Adds a phrase, unless it is too long or its slot is full.
    pub(super) fn add(&mut self, key: u64, phrase: &[u8], value: T) {
        let slot = &mut self.slots[slot(key)];
        if slot.len() < MOST && phrase.len() <= LONGEST {
            slot.push((phrase.into(), value));
        }
    }
}

#[inline]
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.ilog2())) as usize
}

/// A key: the eight bytes of `text` from a place on, 0 where there are fewer.
#[inline]
pub(super) fn key(text: &[u8], from: usize) -> u64 {
    text.get(from..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
