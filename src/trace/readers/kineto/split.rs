//! Splits a text into events by their braces alone, 64 bytes at a time.
//!
//! The contents of events that no summary needs are not parsed. Whatever is not plainly an event is left to the parser, which
//! handles damage. A stray quote turns the text that follows inside out: then a control character stands inside a string, or
//! something follows a string that may not. A missing brace shows in that an object begins where no value may.

use std::ops::{ControlFlow, Range};

use crate::simd::{BLOCK, Masks, Visitor, classify, parity};

/// After as much the events so far are taken, while they are still in the first-level cache.
const STRIDE: usize = 32 * 1024;
/// After so much after an event for the parser: what is split behind another such event is split for nothing.
const SHORTEST_STRIDE: usize = BLOCK;

/// Reason why splitting stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text ends at this place, or inside the event that begins there.
    Ends(usize),
    /// Enough has been found; the rest begins at this place.
    More(usize),
    /// The text at this place is for the parser.
    Look(usize),
}

/// Splits text into events.
#[derive(Debug)]
pub(super) struct Splitter {
    /// Places of the events that the last call has found.
    pub(super) events: Vec<Range<usize>>,
    /// The next call finds events in as much text, and one at least.
    stride: usize,
}

impl Default for Splitter {
    fn default() -> Self {
        Self { events: Vec::new(), stride: STRIDE }
    }
}

/// A walk through the blocks of a text.
#[derive(Debug)]
struct Walk<'a> {
    text: &'a [u8],
    /// Start of the next block, and place where the walk may end.
    base: usize,
    enough: usize,
    events: &'a mut Vec<Range<usize>>,
    /// All ones inside a string.
    in_string: u64,
    /// True if the byte before was a backslash that escapes the next.
    escaped: bool,
    /// True if the byte before was a quote that closes a string.
    closed: bool,
    depth: u32,
    /// Start of the event that is open.
    start: usize,
    /// Earliest start of the next event.
    next: usize,
}

impl Splitter {
    /// Finds the events in `text`, which begins between two of them.
    pub(super) fn split(&mut self, text: &[u8]) -> Stop {
        self.events.clear();
        // Where the next event must begin.
        let next = match gap(text, 0) {
            Ok(place) => place,
            Err(stop) => return stop,
        };
        let mut walk = Walk::new(text, next, self.stride, &mut self.events);
        self.stride = STRIDE.min(2 * self.stride);
        match classify(&text[next..], &mut walk) {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) => Stop::Ends(walk.rest()),
        }
    }

    /// Lets the next calls find few events, as one of the last call is for the parser.
    pub(super) fn shorten(&mut self) {
        self.stride = SHORTEST_STRIDE;
    }
}

impl Visitor for Walk<'_> {
    type Stop = Stop;

    #[allow(clippy::inline_always, reason = "compiled into the vector code, for the processor that it is for")]
    #[inline(always)]
    fn visit(&mut self, masks: Masks) -> ControlFlow<Stop> {
        if self.base >= self.enough && !self.events.is_empty() {
            return ControlFlow::Break(Stop::More(self.rest()));
        }
        self.block(masks)?;
        self.base += BLOCK;
        ControlFlow::Continue(())
    }
}

impl<'a> Walk<'a> {
    /// Makes a walk from `next` on, the start of an event.
    fn new(text: &'a [u8], next: usize, stride: usize, events: &'a mut Vec<Range<usize>>) -> Self {
        let (in_string, escaped, closed, depth) = (0, false, false, 0);
        Self { text, base: next, enough: next + stride, events, in_string, escaped, closed, depth, start: next, next }
    }

    /// Returns the start of the text without a complete event.
    fn rest(&self) -> usize {
        if self.depth > 0 { self.start } else { self.next }
    }

    /// Goes through one block.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn block(&mut self, masks: Masks) -> ControlFlow<Stop> {
        let plain = masks.backslashes == 0 && !self.escaped;
        let (quotes, odd) = if plain {
            (masks.quotes, masks.odd)
        } else {
            let quotes = self.unescaped(masks.quotes, masks.backslashes);
            (quotes, parity(quotes))
        };
        let in_string = odd ^ self.in_string;
        // The last byte's state goes on.
        self.in_string = ((in_string.cast_signed()) >> 63).cast_unsigned();
        let closing = quotes & !in_string;
        let after_string = closing << 1 | u64::from(self.closed);
        self.closed = closing >> 63 == 1;
        let suspect = (masks.controls & in_string) | (after_string & !masks.ends);
        let (opens, closes) = (masks.opens & !in_string, masks.closes & !in_string);
        let mut braces = opens | closes;
        if suspect != 0 {
            // What ends in front of it is good.
            braces &= (suspect & suspect.wrapping_neg()) - 1;
        }
        while braces != 0 {
            let bit = braces & braces.wrapping_neg();
            braces ^= bit;
            let place = self.base + bit.trailing_zeros() as usize;
            if opens & bit != 0 {
                if self.depth == 0 {
                    if place != self.next {
                        return ControlFlow::Break(Stop::Look(self.next));
                    }
                    self.start = place;
                } else if !may_hold_object(&self.text[..place]) {
                    return ControlFlow::Break(Stop::Look(self.start));
                }
                self.depth += 1;
            } else {
                if self.depth == 0 {
                    return ControlFlow::Break(Stop::Look(self.next));
                }
                self.depth -= 1;
                if self.depth == 0 {
                    self.events.push(self.start..place + 1);
                    match gap(self.text, place + 1) {
                        Ok(next) => self.next = next,
                        Err(stop) => return ControlFlow::Break(stop),
                    }
                }
            }
        }
        if suspect == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Look(self.rest())) }
    }

    /// The quotes that no backslash escapes, bit by bit: they are rare.
    #[cold]
    fn unescaped(&mut self, mut quotes: u64, backslashes: u64) -> u64 {
        let mut rest = backslashes;
        if self.escaped {
            rest &= !1;
            quotes &= !1;
            self.escaped = false;
        }
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            let after = bit << 1;
            self.escaped = after == 0;
            rest &= !after;
            quotes &= !after;
        }
        quotes
    }
}

/// Returns true if an object may follow: it is the value of a key or the first of a list. That of another in a list is left to
/// the parser, as it looks like an event behind one that lacks a brace.
fn may_hold_object(text: &[u8]) -> bool {
    text.iter().rev().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b':' | b'['))
}

/// The place of the brace that begins the next event, from between two of them.
fn gap(text: &[u8], mut place: usize) -> Result<usize, Stop> {
    loop {
        match text.get(place) {
            None => return Err(Stop::Ends(place)),
            Some(b' ' | b'\n' | b'\r' | b'\t' | b',') => place += 1,
            Some(b'{') => return Ok(place),
            Some(_) => return Err(Stop::Look(place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::readers::kineto::value;

    fn split(text: &str) -> (Vec<&str>, Stop) {
        let mut splitter = Splitter::default();
        let stop = splitter.split(text.as_bytes());
        (splitter.events.iter().map(|event| &text[event.clone()]).collect(), stop)
    }

    #[test]
    fn leaves_what_is_unfinished_or_odd() {
        assert_eq!(split(r#"{"a": 1}, {"b": "#), (vec![r#"{"a": 1}"#], Stop::Ends(10)));
        assert_eq!(split("{}, "), (vec!["{}"], Stop::Ends(4)));
        assert_eq!(split("{}, 7, {}"), (vec!["{}"], Stop::Look(4)));
        assert_eq!(split("{}, {\"a\": \"x\ny\"}"), (vec!["{}"], Stop::Look(4)));
        assert_eq!(split("{}, {\"a\": fo\"o\"\",\n \"b\": 1}"), (vec!["{}"], Stop::Look(4)));
        assert_eq!(split("} {}"), (vec![], Stop::Look(0)));
        // Without line breaks two stray quotes would turn what is between them inside out, and nothing would show.
        assert_eq!(split(r#"{},{"a":"x"y"},{"b":1},{"a":"x"y"}"#), (vec!["{}"], Stop::Look(3)));
        assert_eq!(split(r#"{},{"a":{"b":1},{"c":2}]}"#), (vec!["{}"], Stop::Look(3)));
    }

    #[test]
    fn little_is_split_after_an_event_for_the_parser() {
        let text = "{}, ".repeat(100_000);
        let mut splitter = Splitter::default();
        let mut found = |is_short: bool| {
            if is_short {
                splitter.shorten();
            }
            assert!(matches!(splitter.split(text.as_bytes()), Stop::More(_)));
            splitter.events.len()
        };
        let usual = found(false);
        assert!(found(true) <= 2 * SHORTEST_STRIDE / 4);
        // And ever more while all events are plain.
        let more: Vec<usize> = (0..20).map(|_| found(false)).collect();
        assert!(more.is_sorted() && more[0] < usual && more[19] == usual, "{more:?}");
    }

    proptest! {
        #[test]
        fn agrees_with_the_parser(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    r#"{"a": "}{\"\\"}"#, "{}", ",", " ", "\n", r#"{"ab": {"c": [{"d": "\\\""}]}}"#, r#"{"long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#,
                ]),
                0..40,
            ),
        ) {
            let text = parts.concat();
            let mut at = value::skip_space(text.as_bytes(), 0);
            let mut expected = Vec::new();
            while let Some(&byte) = text.as_bytes().get(at) {
                if byte == b'{' {
                    let (_, end) = value::value(text.as_bytes(), at).expect("a value");
                    expected.push(&text[at..end]);
                    at = end;
                } else {
                    at += 1;
                }
            }
            prop_assert_eq!(split(&text), (expected, Stop::Ends(text.len())));
        }
    }
}
