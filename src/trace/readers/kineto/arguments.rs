//! The arguments of a device's operation, and of the call that launched it.

use super::event::whole;
use super::plain::{Members, Next, word};
use super::value::{Fault, Value, members};
use crate::trace::Shape;

const CORRELATION: &[u8] = b"correlation";

/// What the arguments of a device's operation say of it.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) device: Option<Value<'a>>,
    pub(super) stream: Option<Value<'a>>,
    pub(super) bytes: Option<Value<'a>>,
    pub(super) kind: Option<Value<'a>>,
    pub(super) shape: Shape,
    /// What it has in common with its call; 0 where it is not told.
    pub(super) correlation: u64,
    /// Whether it was a node of a graph.
    pub(super) in_graph: bool,
    /// Whose it was; only traces that we have merged say so here.
    pub(super) process: Option<Value<'a>>,
}

impl<'a> Arguments<'a> {
    /// The arguments at the beginning of a text.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        let mut found = Self::default();
        if !text.starts_with(b"{") {
            return Ok(found);
        }
        if found.take_plain(text).is_some() {
            return Ok(found);
        }
        found = Self::default();
        members(text, 0, |key, value| {
            found.take(word(key), key, value);
        })?;
        Ok(found)
    }

    /// Takes the arguments; `None` if they are not written as most are.
    fn take_plain(&mut self, text: &'a [u8]) -> Option<()> {
        let mut members = Members::of(text);
        while let Next::Key(first, key) = members.next()? {
            let value = members.value()?;
            self.take(first, key, value);
        }
        Some(())
    }

    /// Takes the member whose key begins with this [`word`].
    #[inline]
    fn take(&mut self, first: u64, key: &[u8], value: Value<'a>) {
        match first {
            first if first == const { word(b"device") } => self.device = Some(value),
            first if first == const { word(b"stream") } => self.stream = Some(value),
            first if first == const { word(b"correlation") } && key == CORRELATION => {
                self.correlation = identity(value);
            }
            first if first == const { word(b"grid") } => self.shape.grid = triple(value),
            first if first == const { word(b"block") } => self.shape.block = triple(value),
            first if first == const { word(b"registers per thread") } && key == b"registers per thread" => {
                self.shape.registers_per_thread = whole(value);
            }
            first if first == const { word(b"shared memory") } && key == b"shared memory" => {
                self.shape.shared_memory_bytes = whole(value);
            }
            first if first == const { word(b"bytes") } => self.bytes = Some(value),
            first if first == const { word(b"kind") } => self.kind = Some(value),
            first if first == const { word(b"graph node id") } && key == b"graph node id" => {
                self.in_graph = identity(value) != 0;
            }
            first if first == const { word(b"in graph") } && key == b"in graph" => {
                self.in_graph = matches!(value, Value::Bare(b"true"));
            }
            first if first == const { word(b"process id") } && key == b"process id" => self.process = Some(value),
            _ => {}
        }
    }
}

/// What the call whose arguments begin `text` has in common with what it launched; 0 where it is not told.
pub(super) fn correlation(text: &[u8]) -> Result<u64, Fault> {
    if !text.starts_with(b"{") {
        return Ok(0);
    }
    if let Some(found) = flat_correlation(text).or_else(|| plain_correlation(text)) {
        return Ok(found);
    }
    let mut found = 0;
    members(text, 0, |key, value| {
        if key == CORRELATION {
            found = identity(value);
        }
    })?;
    Ok(found)
}

/// The same where nothing stands inside the arguments and in front of it but numbers and words: a fifth of all events are
/// calls, and going through their members would take as long as everything else about them.
fn flat_correlation(text: &[u8]) -> Option<u64> {
    let inside = &text[1..memchr::memchr(b'}', text)?];
    let mut letters = memchr::memchr_iter(b'c', inside);
    let at = letters.find(|&at| at > 0 && inside[at - 1] == b'"' && inside[at..].starts_with(b"correlation\""))?;
    let before = &inside[..at - 1];
    // Of a quote that is escaped, or of a member of something else, the parser makes what it should.
    if memchr::memchr2(b'{', b'\\', before).is_some() {
        return None;
    }
    let value = inside[at + CORRELATION.len() + 1..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let length = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match value.get(length) {
        None | Some(b',' | b' ' | b'\n' | b'\r' | b'\t') if length > 0 => Some(identity(Value::Bare(&value[..length]))),
        _ => None,
    }
}

/// The same, as far as it is needed; `None` if the arguments are not written as most are.
fn plain_correlation(text: &[u8]) -> Option<u64> {
    let mut members = Members::of(text);
    while let Next::Key(first, key) = members.next()? {
        let value = members.value()?;
        if first == const { word(CORRELATION) } && key == CORRELATION {
            return Some(identity(value));
        }
    }
    Some(0)
}

/// A number that identifies something, whether or not it stands in quotes; 0 for what is none.
fn identity(value: Value<'_>) -> u64 {
    value.number().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
}

fn triple(value: Value<'_>) -> Option<[u32; 3]> {
    let Value::Nested(text) = value else { return None };
    let inside = text.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut numbers = inside.split(|&byte| byte == b',').map(|part| whole(Value::Bare(part.trim_ascii())));
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_shapes_and_numbers() {
        let shape = Arguments::parse(
            br#"{"grid": [ 1,2 , 3 ], "block": [1,2], "shared memory": 48, "registers per thread": -1}"#,
        )
        .expect("an object")
        .shape;
        assert_eq!((shape.grid, shape.block), (Some([1, 2, 3]), None));
        assert_eq!((shape.shared_memory_bytes, shape.registers_per_thread), (Some(48), None));
    }

    #[test]
    fn finds_what_joins_a_call_and_an_operation() {
        for (text, expected) in [
            (r#"{"External id": 7, "cbid": 211, "correlation": 18446744073709551615}"#, u64::MAX),
            (r#"{"correlation": "117", "x": [{"correlation": 3}]}"#, 117),
            (r#"{"x": {"correlation": 3}, "correlation id": 4, "correlat": 5}"#, 0),
            (r#"{"x": "a\"b", "correlation":9}"#, 9),
            (r#"{"correlation": -1}"#, 0),
            ("{}", 0),
            ("[1]", 0),
        ] {
            assert_eq!(correlation(text.as_bytes()), Ok(expected), "{text}");
            let whole = Arguments::parse(text.as_bytes()).expect("arguments").correlation;
            assert_eq!(whole, expected, "{text}");
        }
        let of = |text: &str| Arguments::parse(text.as_bytes()).expect("an object").in_graph;
        assert!(of(r#"{"graph node id": 5}"#) && of(r#"{"in graph": true}"#));
        assert!(!of(r#"{"graph node id": 0}"#) && !of(r#"{"in graph": 1}"#) && !of("{}"));
    }
}
