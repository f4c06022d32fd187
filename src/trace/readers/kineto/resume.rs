//! Search for the next event after something damaged or far too long.

use super::Interrupted;
use super::text::{LONGEST, Text};
use super::value::{self, Fault, skip_space};
use crate::error::Result;

/// Keys with which the events of known writers begin.
const FIRST_KEYS: &[&[u8]] = &[b"ph", b"cat", b"name", b"pid", b"tid", b"ts", b"dur", b"args", b"id", b"s", b"bp"];

/// Result of a search for the next event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// The place of the next event's brace, or of the bracket that closes the list.
    At(usize),
    /// Nothing in front of this place; more text is needed.
    Unknown(usize),
}

/// The next place at or after `from` where one event ends and another begins, or the list ends.
///
/// Inside a string nothing looks like that unless it was meant to: the quotes in it would have to be escaped.
pub(super) fn boundary(text: &[u8], mut from: usize) -> Boundary {
    while let Some(found) = memchr::memchr(b'}', &text[from..]) {
        let brace = from + found;
        // An event whose beginning is further away is not looked for, however much of the text is here.
        let near = &text[..text.len().min(brace + LONGEST)];
        match after_event(near, brace + 1) {
            Ok(Some(place)) => return Boundary::At(place),
            Err(_) if near.len() < text.len() => from = brace + 1,
            Ok(None) => from = brace + 1,
            Err(Fault::Incomplete | Fault::Malformed(..)) => return Boundary::Unknown(brace),
        }
    }
    Boundary::Unknown(text.len())
}

/// Returns the place after an event that ended in front of `at`; `None` if none did.
fn after_event(text: &[u8], at: usize) -> std::result::Result<Option<usize>, Fault> {
    let (byte, place) = value::peek(text, at)?;
    match byte {
        b',' => {
            let (byte, brace) = value::peek(text, place + 1)?;
            if byte != b'{' {
                return Ok(None);
            }
            let (byte, quote) = value::peek(text, brace + 1)?;
            if byte != b'"' {
                return Ok(None);
            }
            let rest = &text[quote + 1..];
            let Some(length) = rest.iter().take(8).position(|&byte| byte == b'"') else {
                return if rest.len() < 8 { Err(Fault::Incomplete) } else { Ok(None) };
            };
            let (byte, _) = value::peek(text, quote + length + 2)?;
            Ok((byte == b':' && FIRST_KEYS.contains(&&rest[..length])).then_some(brace))
        }
        b']' => {
            let after = skip_space(text, place + 1);
            match text.get(after) {
                None => Err(Fault::Incomplete),
                Some(b'}') => Ok(Some(place)),
                Some(b',') => match value::peek(text, after + 1)? {
                    (b'"', quote) => value::key(text, quote).map(|_| Some(place)).or_else(|fault| match fault {
                        Fault::Incomplete => Err(fault),
                        Fault::Malformed(..) => Ok(None),
                    }),
                    _ => Ok(None),
                },
                Some(_) => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// Passes over the value at the window's beginning without holding it; whether its end was met. That of what is neither text
/// nor a list nor an object is the next comma or brace.
pub(super) fn skip_long(text: &mut Text, interrupted: Interrupted<'_>) -> Result<bool> {
    let (mut depth, mut in_string, mut escaped) = (0_u64, false, false);
    loop {
        for (place, &byte) in text.window().iter().enumerate() {
            let mut ends = false;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => {
                    in_string = !in_string;
                    ends = !in_string && depth == 0;
                }
                _ if in_string => {}
                b',' | b'}' if depth == 0 => {
                    text.pass(place);
                    return Ok(true);
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    ends = depth == 0;
                }
                _ => {}
            }
            if ends {
                text.pass(place + 1);
                return Ok(true);
            }
        }
        text.pass(usize::MAX);
        if !text.grow(interrupted)? {
            return Ok(false);
        }
    }
}
