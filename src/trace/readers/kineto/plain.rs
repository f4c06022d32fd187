//! Members of a complete object in the usual notation.
//!
//! A writer separates values by the same text in every event. That text is compared with the one in the event before, and
//! parsed only where it differs. Earlier events do not change the result: equal bytes at the same place are the same key.
//!
//! `None` means an unusual notation: the general parser, which names every fault, then reads the object.

use super::value::{self, Value, skip_space};

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = ONES << 7;
/// The longest separator that is kept, in bytes, and the most separators of an object.
const WIDTH: usize = 48;
const MOST: usize = 64;

/// Separators in the last object of a kind.
pub(super) struct Layout<M> {
    separators: Vec<Separator<M>>,
    /// Returns the member of a key.
    named: fn(&[u8]) -> M,
}

/// Text from behind a value to the next one, and the member that it names.
#[derive(Clone, Copy)]
struct Separator<M> {
    text: [u128; WIDTH / 16],
    /// All ones for bytes of the text.
    counts: [u128; WIDTH / 16],
    length: usize,
    next: Next<M>,
}

/// A walk through the members of an object.
pub(super) struct Members<'a, 'h, M> {
    text: &'a [u8],
    at: usize,
    /// Number of members before this place.
    step: usize,
    /// True if a text had an escape.
    escaped: bool,
    layout: &'h mut Layout<M>,
}

/// The next part of an object.
#[derive(Clone, Copy)]
pub(super) enum Next<M> {
    /// The key of a member; its value follows.
    Key(M),
    End,
}

impl<M: Copy> Layout<M> {
    pub(super) fn new(named: fn(&[u8]) -> M) -> Self {
        Self { separators: Vec::new(), named }
    }

    /// Returns the member at a place and the text from its value on, if the separator is the same as before.
    #[inline]
    pub(super) fn expected<'a>(&self, text: &'a [u8], place: usize) -> Option<(M, &'a [u8])> {
        let (step, ahead) = (self.separators.get(place)?, text.first_chunk()?);
        match step.next {
            Next::Key(member) if step.fits(ahead) => Some((member, &text[step.length..])),
            _ => None,
        }
    }
}

impl<M: Copy> Separator<M> {
    fn new(text: &[u8; WIDTH], length: usize, next: Next<M>) -> Self {
        let mut counts = [0; WIDTH];
        counts[..length].fill(u8::MAX);
        Self { text: words(text), counts: words(&counts), length, next }
    }

    #[inline]
    fn fits(&self, text: &[u8; WIDTH]) -> bool {
        let text = words(text);
        let differs = |place: usize| (text[place] ^ self.text[place]) & self.counts[place];
        // Most are short.
        differs(0) == 0 && (self.length <= 16 || differs(1) | differs(2) == 0)
    }
}

#[inline]
fn words(text: &[u8; WIDTH]) -> [u128; WIDTH / 16] {
    // Not by `map` of an array: its closure is not always inlined.
    let (parts, _) = text.as_chunks();
    [u128::from_le_bytes(parts[0]), u128::from_le_bytes(parts[1]), u128::from_le_bytes(parts[2])]
}

impl<'a, 'h, M: Copy> Members<'a, 'h, M> {
    /// The members of the object that `text` begins with.
    #[inline]
    pub(super) fn of(text: &'a [u8], layout: &'h mut Layout<M>) -> Self {
        Self { text, at: 1, step: 0, escaped: false, layout }
    }

    /// The next key, from in front of a member or behind one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Next<M>> {
        if let Some(step) = self.layout.separators.get(self.step)
            && let Some(ahead) = self.text.get(self.at..).and_then(<[u8]>::first_chunk)
            && step.fits(ahead)
            // More white space than before would be part of the separator.
            && (matches!(step.next, Next::End) || self.text.get(self.at + step.length).is_some_and(|&byte| byte > b' '))
        {
            (self.at, self.step) = (self.at + step.length, self.step + 1);
            return Some(step.next);
        }
        self.learn()
    }

    /// The same where the separator differs from the one before, which it replaces.
    #[inline(never)]
    fn learn(&mut self) -> Option<Next<M>> {
        let ahead = self.text.get(self.at..)?.first_chunk();
        let start = self.at;
        let next = self.look()?;
        if let Some(ahead) = ahead.filter(|_| self.at - start <= WIDTH) {
            let (step, separators) = (Separator::new(ahead, self.at - start, next), &mut self.layout.separators);
            if let Some(known) = separators.get_mut(self.step) {
                *known = step;
            } else if separators.len() == self.step && self.step < MOST {
                separators.push(step);
            }
        }
        self.step += 1;
        Some(next)
    }

    /// Parses the separator, and moves on to the value or behind the end.
    fn look(&mut self) -> Option<Next<M>> {
        let mut at = skip_space(self.text, self.at);
        if *self.text.get(at)? == b',' {
            at = skip_space(self.text, at + 1);
        } else if self.at > 1 && self.text[at] != b'}' {
            return None;
        }
        match self.text.get(at)? {
            b'"' => {}
            b'}' => {
                self.at = at + 1;
                return Some(Next::End);
            }
            _ => return None,
        }
        let start = at + 1;
        let end = closing(self.text, start)?;
        if self.text[end] != b'"' {
            return None;
        }
        let colon = skip_space(self.text, end + 1);
        if *self.text.get(colon)? != b':' {
            return None;
        }
        self.at = skip_space(self.text, colon + 1);
        // White space may go on behind what has been read.
        self.text.get(self.at)?;
        Some(Next::Key((self.layout.named)(&self.text[start..end])))
    }

    /// The value of the key.
    #[inline]
    pub(super) fn value(&mut self) -> Option<Value<'a>> {
        let start = self.at;
        if !self.text.get(start)?.is_ascii_digit() {
            return self.text_or_list();
        }
        let end = number_end(self.text, start);
        match self.text.get(end)? {
            b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t' => {
                self.at = end;
                Some(Value::Bare(&self.text[start..end]))
            }
            _ => self.any(),
        }
    }

    /// The same for a value that does not begin with a digit.
    #[inline(never)]
    fn text_or_list(&mut self) -> Option<Value<'a>> {
        let start = self.at;
        match *self.text.get(start)? {
            b'"' => {
                let end = closing(self.text, start + 1)?;
                if self.text[end] != b'"' {
                    self.escaped = true;
                    return self.any();
                }
                self.at = end + 1;
                Some(Value::Text(&self.text[start + 1..end]))
            }
            b'[' => {
                let mut end = start + 1;
                while let Some(b'0'..=b'9' | b',' | b' ') = self.text.get(end) {
                    end += 1;
                }
                if *self.text.get(end)? != b']' {
                    return self.any();
                }
                self.at = end + 1;
                Some(Value::Nested(&self.text[start..=end]))
            }
            _ => self.any(),
        }
    }

    /// Returns true if one of the texts so far had an escape.
    #[inline]
    pub(super) fn escaped(&self) -> bool {
        self.escaped
    }

    /// The current place in the text.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Skips bytes that contain a number of members.
    #[inline]
    pub(super) fn skip(&mut self, length: usize, members: usize) {
        (self.at, self.step) = (self.at + length, self.step + members);
    }

    /// The text from the current place on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    #[cold]
    fn any(&mut self) -> Option<Value<'a>> {
        let (value, end) = value::value(self.text, self.at).ok()?;
        self.at = end;
        Some(value)
    }
}

/// The place of the first quote or backslash at or after `at`.
#[inline]
fn closing(text: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are short: a vector search would take longer to begin than these take to end.
    for _ in 0..3 {
        let Some(eight) = eight(text, at) else { break };
        let found = quotes(eight);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr::memchr2(b'"', b'\\', text.get(at..)?).map(|found| at + found)
}

#[inline]
fn eight(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The first place at or after `at` with neither a digit nor a point.
#[inline]
fn number_end(text: &[u8], mut at: usize) -> usize {
    while let Some(eight) = eight(text, at) {
        // Digits become 0 to 9, so that only other bytes reach the top bit.
        let digits = eight ^ (ONES * u64::from(b'0'));
        let others = (((digits & !TOPS) + ONES * (0x80 - 10)) | digits) & TOPS;
        at += others.trailing_zeros() as usize / 8;
        if others != 0 {
            if text[at] != b'.' {
                return at;
            }
            at += 1;
        }
    }
    while let Some(b'0'..=b'9' | b'.') = text.get(at) {
        at += 1;
    }
    at
}

/// Returns the top bits of the bytes that are quotes or backslashes; bits above the first may be wrong.
#[inline]
fn quotes(eight: u64) -> u64 {
    zeros(eight ^ (ONES * u64::from(b'"'))) | zeros(eight ^ (ONES * u64::from(b'\\')))
}

/// Returns the top bits of the bytes that are zero; bits above the first may be wrong.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & TOPS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A number for each key; good enough for a test.
    fn named(key: &[u8]) -> u64 {
        key.iter().fold(key.len() as u64, |sum, &byte| sum.wrapping_mul(257) + u64::from(byte))
    }

    fn plain<'a>(text: &'a [u8], layout: &mut Layout<u64>) -> Option<Vec<(u64, Value<'a>)>> {
        let (mut walk, mut found) = (Members::of(text, layout), Vec::new());
        while let Next::Key(key) = walk.next()? {
            found.push((key, walk.value()?));
        }
        Some(found)
    }

    fn object() -> impl Strategy<Value = String> {
        let parts = vec![
            "\"ph\"",
            "\"a longer key\"",
            "\"\\\"\"",
            ":",
            ":",
            ",",
            " ",
            "\n",
            "1",
            "2.5",
            "-3",
            "1e3",
            "1/2",
            "true",
            "[1,2]",
            "[\"a\"]",
            "{\"b\": 1}",
            "\"a value that needs more than three words\"",
            "{",
            "}",
            "\\",
            "\u{e9}",
            ", \"ph\": ",
            ",\n  \"ts\": 5",
            "1669783687464181.25",
            "\"a key that is too long for what is remembered\": ",
        ];
        prop::collection::vec(prop::sample::select(parts), 0..24).prop_map(|parts| format!("{{{}}}", parts.concat()))
    }

    proptest! {
        #[test]
        fn agrees_with_the_parser(texts in prop::collection::vec(object(), 1..4)) {
            let mut layout = Layout::new(named);
            // Neither earlier objects nor the text behind it change the result.
            for text in texts.iter().chain(&texts) {
                let alone = plain(text.as_bytes(), &mut Layout::new(named));
                prop_assert_eq!(&plain(text.as_bytes(), &mut layout), &alone);
                let longer = format!("{text}                                        ");
                prop_assert_eq!(&plain(longer.as_bytes(), &mut layout), &alone);
                if let Some(found) = alone {
                    let mut expected = Vec::new();
                    value::members(text.as_bytes(), 0, |key, value| expected.push((named(key), value))).expect("what is plain is right");
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
