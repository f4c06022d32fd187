//! Callees by the text that names them. Few functions are called by few threads, millions of times: one comparison finds what
//! would otherwise be three members to walk through, two numbers to parse and two tables to look into.

/// Callees of a capture, by the text from behind the category to behind the thread.
#[derive(Debug)]
pub(super) struct Callees {
    slots: [Vec<Named>; SLOTS],
}

/// Of a function's name decides which slot it is in: what stands behind `, "name": "cuda`.
const DECIDES: usize = 15;
const SLOTS: usize = 64;
/// So many threads call a function before others are looked up as what has not been seen.
const MOST: usize = 8;
/// A longer text is none that is seen again and again.
const LONGEST: usize = 256;

#[derive(Debug)]
struct Named {
    text: Box<[u8]>,
    callee: u32,
}

impl Default for Callees {
    fn default() -> Self {
        Self { slots: [const { Vec::new() }; SLOTS] }
    }
}

impl Callees {
    /// The callee that `text` begins with, and how much of the text names it.
    #[inline]
    pub(super) fn find(&self, text: &[u8]) -> Option<(u32, usize)> {
        let named = self.slots[slot(text)?].iter().find(|named| text.starts_with(&named.text))?;
        Some((named.callee, named.text.len()))
    }

    /// Takes a callee that `text` names.
    pub(super) fn add(&mut self, text: &[u8], callee: u32) {
        if let Some(slot) = slot(text).map(|slot| &mut self.slots[slot])
            && slot.len() < MOST
            && text.len() <= LONGEST
        {
            slot.push(Named { text: text.into(), callee });
        }
    }
}

#[inline]
fn slot(text: &[u8]) -> Option<usize> {
    let word = text.get(DECIDES..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))?;
    Some((word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize)
}
