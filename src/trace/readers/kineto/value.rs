//! A value of JSON in a text that may be damaged and may not be all there yet.
//!
//! The grammar is checked, because that is what finds a quote too many at the very place where it stands. Control characters
//! inside strings are let pass: some writers do not escape the line breaks of a name.

/// Objects and arrays inside each other; more is not a trace.
const DEEPEST: u32 = 128;

/// Reason of a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text ends inside it.
    Incomplete,
    /// It is not JSON, from this place of the text on.
    Malformed(usize, &'static str),
}

/// A value as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A string, without its quotes, with its escapes.
    Text(&'a [u8]),
    /// A number or a word.
    Bare(&'a [u8]),
    /// An object or an array.
    Nested(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Returns the text of a number, in quotes or not.
    pub(super) fn number(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text),
            Self::Nested(_) => None,
        }
    }
}

/// The first place at or after `at` that is not white space.
#[inline]
pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The byte at the next place that is not white space, and that place.
pub(super) fn peek(text: &[u8], at: usize) -> Result<(u8, usize), Fault> {
    let at = skip_space(text, at);
    text.get(at).map(|&byte| (byte, at)).ok_or(Fault::Incomplete)
}

/// Returns the string whose opening quote is at `at`, and the place after its closing one.
pub(super) fn string(text: &[u8], at: usize) -> Result<(&[u8], usize), Fault> {
    let start = at + 1;
    let mut from = start;
    // Most strings are short: a vector search would take longer to begin than these take to end.
    for (place, byte) in text.get(start..).unwrap_or_default().iter().take(12).enumerate() {
        match byte {
            b'"' => return Ok((&text[start..start + place], start + place + 1)),
            b'\\' => break,
            _ => from = start + place + 1,
        }
    }
    loop {
        let found = memchr::memchr2(b'"', b'\\', text.get(from..).unwrap_or_default()).ok_or(Fault::Incomplete)?;
        let place = from + found;
        if text[place] == b'"' {
            return Ok((&text[start..place], place + 1));
        }
        from = place + 2;
    }
}

/// The value at `at`, and the place after it.
pub(super) fn value(text: &[u8], at: usize) -> Result<(Value<'_>, usize), Fault> {
    let (byte, at) = peek(text, at)?;
    match byte {
        b'"' => string(text, at).map(|(inside, end)| (Value::Text(inside), end)),
        b'{' | b'[' => nested(text, at).map(|end| (Value::Nested(&text[at..end]), end)),
        _ => bare(text, at).map(|end| (Value::Bare(&text[at..end]), end)),
    }
}

/// The end of the number or word at `at`. Some words are none of JSON's, but Python, C++ and Kineto write them.
fn bare(text: &[u8], at: usize) -> Result<usize, Fault> {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'/' | b'a'..=b'z' | b'A'..=b'Z');
    let length = text[at..].iter().position(|byte| !is_part(byte)).ok_or(Fault::Incomplete)?;
    let word = &text[at..at + length];
    match word.first() {
        Some(b'0'..=b'9' | b'-') => Ok(at + length),
        _ if matches!(word, b"true" | b"false" | b"null" | b"NaN" | b"Infinity" | b"nan" | b"inf" | b"N/A") => {
            Ok(at + length)
        }
        _ => Err(Fault::Malformed(at, "a value is neither text nor a number")),
    }
}

/// The end of the object or array at `start`, by a loop: depth costs a bit each, not a stack frame.
fn nested(text: &[u8], start: usize) -> Result<usize, Fault> {
    let (mut objects, mut depth) = (u128::from(text[start] == b'{'), 1);
    let mut at = start + 1;
    // Right after an opening bracket, and where no comma has announced another value.
    let mut may_end = true;
    loop {
        let in_object = objects & 1 == 1;
        let (byte, place) = peek(text, at)?;
        if byte == if in_object { b'}' } else { b']' } {
            if !may_end {
                return Err(Fault::Malformed(place, "a value is missing"));
            }
            at = place + 1;
            depth -= 1;
            objects >>= 1;
            if depth == 0 {
                return Ok(at);
            }
        } else {
            at = if in_object { key(text, place)?.1 } else { place };
            let (byte, place) = peek(text, at)?;
            match byte {
                b'{' | b'[' if depth == DEEPEST => {
                    return Err(Fault::Malformed(place, "values are nested too deeply"));
                }
                b'{' | b'[' => {
                    objects = objects << 1 | u128::from(byte == b'{');
                    depth += 1;
                    (at, may_end) = (place + 1, true);
                    continue;
                }
                b'"' => at = string(text, place)?.1,
                _ => at = bare(text, place)?,
            }
        }
        (at, may_end) = separator(text, at, objects & 1 == 1)?;
    }
}

/// The place after the comma, or that of the closing bracket, and whether it is the bracket's.
fn separator(text: &[u8], at: usize, in_object: bool) -> Result<(usize, bool), Fault> {
    match peek(text, at)? {
        (b',', place) => Ok((place + 1, false)),
        (b'}', place) if in_object => Ok((place, true)),
        (b']', place) if !in_object => Ok((place, true)),
        (_, place) => Err(Fault::Malformed(place, "no comma follows a value")),
    }
}

/// The key at `at`, and the place after its colon.
pub(super) fn key(text: &[u8], at: usize) -> Result<(&[u8], usize), Fault> {
    let (byte, at) = peek(text, at)?;
    if byte != b'"' {
        return Err(Fault::Malformed(at, "a key is not in quotes"));
    }
    let (key, after) = string(text, at)?;
    match peek(text, after)? {
        (b':', colon) => Ok((key, colon + 1)),
        (_, place) => Err(Fault::Malformed(place, "no colon follows a key")),
    }
}

/// Calls `take` with every member of the object at `at`, and gives the place after it.
///
/// A comma in front of the first member or the closing brace is let pass: some writers leave one.
pub(super) fn members<'a>(
    text: &'a [u8],
    at: usize,
    mut take: impl FnMut(&'a [u8], Value<'a>),
) -> Result<usize, Fault> {
    let mut at = at + 1;
    loop {
        match peek(text, at)? {
            (b'}', place) => return Ok(place + 1),
            (b',', place) => {
                at = place + 1;
                continue;
            }
            _ => {}
        }
        let (name, after) = key(text, at)?;
        let (found, after) = value(text, after)?;
        take(name, found);
        at = match peek(text, after)? {
            (b',', place) => place + 1,
            (b'}', place) => return Ok(place + 1),
            (_, place) => return Err(Fault::Malformed(place, "no comma follows a value")),
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn end(text: &str) -> Result<usize, Fault> {
        value(text.as_bytes(), 0).map(|(_, end)| end)
    }

    #[test]
    fn finds_the_end_of_a_value() {
        for text in
            [r#""a\"b""#, r#"{"a":[1,{"b":[]},"]"],"c":{}}"#, "[]", "[[[1]],[2]]", r#"{ "a" : "}" , "b" : [ "{" ] }"#]
        {
            assert_eq!(end(&format!("{text},")), Ok(text.len()), "{text}");
            for cut in 1..text.len() {
                assert_eq!(end(&text[..cut]), Err(Fault::Incomplete), "{}", &text[..cut]);
            }
        }
    }

    #[test]
    fn finds_the_place_of_a_fault() {
        for (text, place) in [
            (r#"{"a": "b "c" d"}"#, 10),
            (r#"{"a" "b"}"#, 5),
            ("{a: 1}", 1),
            ("[1 2]", 3),
            ("[1}", 2),
            (r#"{"a":1]"#, 6),
            ("[1,]", 3),
            ("[nul]", 1),
            ("nonsense ", 0),
        ] {
            assert!(matches!(end(text), Err(Fault::Malformed(at, _)) if at == place), "{text}: {:?}", end(text));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in prop::collection::vec(prop::sample::select(br#"{}[]":, a1"#.to_vec()), 0..14)) {
            let text = String::from_utf8(text).expect("ASCII");
            let ours = value(format!("{text}\n").as_bytes(), 0).is_ok_and(|(_, end)| text[end.min(text.len())..].trim().is_empty());
            let number_with_zeros = text.contains('a') || text.contains("11");
            if !number_with_zeros {
                prop_assert_eq!(ours, serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
        }
    }
}
