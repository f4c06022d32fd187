//! What longer pieces of text mean that come again and again: one comparison finds what would otherwise be members to walk
//! through, numbers to parse and tables to look into.

/// Pieces of text and what they mean. It must depend on nothing else.
#[derive(Debug)]
pub(super) struct Phrases<T> {
    slots: Vec<Vec<(Box<[u8]>, T)>>,
}

/// A power of two.
const SLOTS: usize = 256;
/// Of more that fall together the others are not remembered.
const MOST: usize = 8;
/// Nor are longer ones.
const LONGEST: usize = 512;

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| Vec::new()).collect() }
    }
}

impl<T: Copy> Phrases<T> {
    /// What `text` begins with: its meaning and its length. Phrases are looked for where their `key` is the same.
    #[inline]
    pub(super) fn find(&self, key: u64, text: &[u8]) -> Option<(T, usize)> {
        let (phrase, meaning) = self.slots[slot(key)].iter().find(|(phrase, _)| text.starts_with(phrase))?;
        Some((*meaning, phrase.len()))
    }

    /// Remembers a phrase.
    pub(super) fn add(&mut self, key: u64, phrase: &[u8], meaning: T) {
        let slot = &mut self.slots[slot(key)];
        if slot.len() < MOST && phrase.len() <= LONGEST {
            slot.push((phrase.into(), meaning));
        }
    }
}

#[inline]
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.ilog2())) as usize
}

/// Up to eight bytes of `text` behind `from`, to tell phrases apart.
#[inline]
pub(super) fn key(text: &[u8], from: usize) -> u64 {
    text.get(from..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
