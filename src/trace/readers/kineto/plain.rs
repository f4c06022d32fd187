//! The members of an object that is all there and written as most are, eight bytes at a time.
//!
//! `None` wherever something is not so; then the parser, which knows every form and names every fault, looks at the object.

use super::value::{self, Value, skip_space};

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = ONES << 7;

/// The first eight bytes of a key, those behind its end left out. To be compared with in `const { … }`: whether it is worked
/// out before the program runs is otherwise up to the compiler, and costs a fifth of the time where it is not.
pub(super) const fn word(key: &[u8]) -> u64 {
    let (mut word, mut place) = (0, 0);
    while place < key.len() && place < 8 {
        word |= (key[place] as u64) << (8 * place);
        place += 1;
    }
    word
}

/// A walk through the members of an object.
pub(super) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

/// What comes next.
pub(super) enum Next<'a> {
    /// The key of a member: its first eight bytes, and all of it.
    Key(u64, &'a [u8]),
    End,
}

impl<'a> Members<'a> {
    /// The members of the object that `text` begins with.
    #[inline]
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self { text, at: 1 }
    }

    /// The next key, from in front of a member or behind one.
    #[allow(clippy::inline_always, reason = "what it gives stays in registers: a tenth of the time of a whole trace")]
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Next<'a>> {
        let mut at = skip_space(self.text, self.at);
        if *self.text.get(at)? == b',' {
            at = skip_space(self.text, at + 1);
        } else if self.at > 1 && self.text[at] != b'}' {
            return None;
        }
        match self.text.get(at)? {
            b'"' => {}
            b'}' => return Some(Next::End),
            _ => return None,
        }
        let start = at + 1;
        let first = eight(self.text, start).unwrap_or_else(|| last(self.text, start));
        let (word, end) = match quotes(first) {
            0 => (first, closing(self.text, start + 8)?),
            found => {
                let length = found.trailing_zeros() / 8;
                (first & !(u64::MAX << (8 * length)), start + length as usize)
            }
        };
        if self.text[end] != b'"' {
            return None;
        }
        let colon = skip_space(self.text, end + 1);
        if *self.text.get(colon)? != b':' {
            return None;
        }
        self.at = skip_space(self.text, colon + 1);
        Some(Next::Key(word, &self.text[start..end]))
    }

    /// The value of the key.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(super) fn value(&mut self) -> Option<Value<'a>> {
        let start = self.at;
        match *self.text.get(start)? {
            b'"' => {
                let end = closing(self.text, start + 1)?;
                if self.text[end] != b'"' {
                    return self.any();
                }
                self.at = end + 1;
                Some(Value::Text(&self.text[start + 1..end]))
            }
            b'0'..=b'9' => {
                let mut end = start + 1;
                while let Some(b'0'..=b'9' | b'.') = self.text.get(end) {
                    end += 1;
                }
                match self.text.get(end)? {
                    b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t' => {
                        self.at = end;
                        Some(Value::Bare(&self.text[start..end]))
                    }
                    _ => self.any(),
                }
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

    /// Whether a name plainly follows whose first letter is none of those.
    #[inline]
    pub(super) fn is_name_beside(&self, letters: fn(u8) -> bool) -> bool {
        let rest = &self.text[self.at..];
        rest.strip_prefix(b", \"name\": \"").and_then(<[u8]>::first).is_some_and(|&letter| !letters(letter))
    }

    /// Everything from the value on.
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

/// The same where there are fewer: what is found must not depend on how much of the text has been read.
#[cold]
fn last(text: &[u8], at: usize) -> u64 {
    text.get(at..).unwrap_or_default().iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The top bits of the bytes that are quotes or backslashes; what stands above the first may be wrong.
#[inline]
fn quotes(eight: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    zeros(eight ^ (ONES * u64::from(b'"'))) | zeros(eight ^ (ONES * u64::from(b'\\')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &[u8]) -> Option<Vec<(&[u8], Value<'_>)>> {
        let (mut walk, mut found) = (Members::of(text), Vec::new());
        while let Next::Key(first, key) = walk.next()? {
            assert_eq!(first, word(key));
            found.push((key, walk.value()?));
        }
        Some(found)
    }

    proptest! {
        #[test]
        fn agrees_with_the_parser(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "\"ph\"", "\"a longer key\"", "\"\\\"\"", ":", ":", ",", " ", "\n", "1", "2.5", "-3", "1e3", "true", "[1,2]", "[\"a\"]",
                    "{\"b\": 1}", "\"a value that needs more than three words\"", "{", "}", "\\", "\u{e9}",
                ]),
                0..24,
            ),
        ) {
            let whole = format!("{{{}}}            ", parts.concat());
            let text = whole.trim_end();
            prop_assert_eq!(plain(text.as_bytes()), plain(whole.as_bytes()));
            if let Some(found) = plain(text.as_bytes()) {
                let mut expected = Vec::new();
                value::members(text.as_bytes(), 0, |key, value| expected.push((key, value))).expect("what is plain is right");
                prop_assert_eq!(found, expected);
            }
        }
    }
}
