//! One event of a trace: the members that a summary needs, as they stand in the text.

use std::borrow::Cow;

use super::decimal::{integer, microseconds_to_nanoseconds};
use super::value::{Fault, Value, key, members, peek, value};
use crate::trace::Shape;

/// The members of an event, wherever in it they stood. Of members that come twice the last holds, as in Python.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    pub(super) phase: Option<Value<'a>>,
    pub(super) category: Option<Value<'a>>,
    pub(super) name: Option<Value<'a>>,
    pub(super) process: Option<Value<'a>>,
    pub(super) thread: Option<Value<'a>>,
    pub(super) start: Option<Value<'a>>,
    pub(super) duration: Option<Value<'a>>,
    pub(super) arguments: Option<&'a [u8]>,
}

/// What the arguments of a device's operation say of it.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) device: Option<Value<'a>>,
    pub(super) stream: Option<Value<'a>>,
    pub(super) bytes: Option<Value<'a>>,
    pub(super) kind: Option<Value<'a>>,
    pub(super) shape: Shape,
}

/// What an event is to a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A kernel ran.
    Kernel,
    /// A copy or a set ran.
    Memory,
    /// The host called the device's interface.
    Call,
    /// Anything else.
    Other,
}

impl<'a> Event<'a> {
    /// The event at `at`, and the place after it.
    pub(super) fn parse(text: &'a [u8], at: usize) -> Result<(Self, usize), Fault> {
        let mut event = Self::default();
        let end = members(text, at, |key, value| event.take(key, value))?;
        Ok((event, end))
    }

    fn take(&mut self, key: &[u8], value: Value<'a>) {
        match key {
            b"ph" => self.phase = Some(value),
            b"cat" => self.category = Some(value),
            b"name" => self.name = Some(value),
            b"pid" => self.process = Some(value),
            b"tid" => self.thread = Some(value),
            b"ts" => self.start = Some(value),
            b"dur" => self.duration = Some(value),
            b"args" => self.arguments = if let Value::Nested(text) = value { Some(text) } else { None },
            _ => {}
        }
    }

    /// The event that is all of `text`, as far as it is needed: once it is clear that no summary needs it, or that nothing
    /// more of it is, the rest is not looked at.
    pub(super) fn parse_plain(text: &'a [u8]) -> Result<Self, Fault> {
        let mut event = Self::default();
        let mut at = 1;
        loop {
            at = match peek(text, at)? {
                (b'}', _) => return Ok(event),
                (b',', place) => place + 1,
                (_, place) => {
                    let (name, after) = key(text, place)?;
                    if name == b"args" && event.wants_only_arguments() {
                        // They are gone through once, by whoever takes them.
                        let (_, brace) = peek(text, after)?;
                        event.arguments = Some(&text[brace..]);
                        return Ok(event);
                    }
                    let (found, after) = value(text, after)?;
                    event.take(name, found);
                    if event.is_known() {
                        return Ok(event);
                    }
                    match peek(text, after)? {
                        (b',', place) => place + 1,
                        (b'}', _) => return Ok(event),
                        (_, place) => return Err(Fault::Malformed(place, "no comma follows a value")),
                    }
                }
            }
        }
    }

    /// Whether it is an operation of which everything else has been seen.
    fn wants_only_arguments(&self) -> bool {
        let is_placed = self.process.is_some() && self.thread.is_some();
        let is_timed = self.name.is_some() && self.start.is_some() && self.duration.is_some();
        is_placed && is_timed && matches!(self.class(), Class::Kernel | Class::Memory)
    }

    /// Whether more members would change nothing, if none comes twice.
    fn is_known(&self) -> bool {
        let Some(phase) = self.phase else { return false };
        if phase != Value::Text(b"X") {
            return true;
        }
        if self.category.is_none() {
            return false;
        }
        let is_timed = self.name.is_some() && self.start.is_some() && self.duration.is_some();
        match self.class() {
            Class::Other => true,
            Class::Call => is_timed && self.process.is_some(),
            Class::Kernel | Class::Memory => {
                is_timed && self.arguments.is_some() && self.process.is_some() && self.thread.is_some()
            }
        }
    }

    /// Its class, by its category alone: operators of the host carry streams and correlations too.
    pub(super) fn class(&self) -> Class {
        let (Some(Value::Text(b"X")), Some(Value::Text(category))) = (self.phase, self.category) else {
            return Class::Other;
        };
        match category {
            b"kernel" | b"Kernel" => Class::Kernel,
            b"gpu_memcpy" | b"gpu_memset" | b"Memcpy" | b"Memset" => Class::Memory,
            b"cuda_runtime" | b"cuda_driver" | b"Runtime" => Class::Call,
            other if other.ends_with(b"_runtime") || other.ends_with(b"_driver") => Class::Call,
            _ => Class::Other,
        }
    }

    /// When it started and ended, in nanoseconds.
    ///
    /// # Errors
    /// What is wrong with its times.
    pub(super) fn times(&self) -> Result<(i64, i64), &'static str> {
        let start = self.start.and_then(Value::number).ok_or("an event has no start")?;
        let start = microseconds_to_nanoseconds(start).ok_or("a start is no time")?;
        let duration = self.duration.and_then(Value::number).ok_or("an event has no duration")?;
        let duration = microseconds_to_nanoseconds(duration).ok_or("a duration is no time")?;
        if duration < 0 {
            return Err("an event ends before it starts");
        }
        Ok((start, start.checked_add(duration).ok_or("an end is no time")?))
    }
}

impl<'a> Arguments<'a> {
    /// The arguments at the beginning of a text.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        let mut found = Self::default();
        if !text.starts_with(b"{") {
            return Ok(found);
        }
        members(text, 0, |key, value| match key {
            b"device" => found.device = Some(value),
            b"stream" => found.stream = Some(value),
            b"bytes" => found.bytes = Some(value),
            b"kind" => found.kind = Some(value),
            b"grid" => found.shape.grid = triple(value),
            b"block" => found.shape.block = triple(value),
            b"registers per thread" => found.shape.registers_per_thread = whole(value),
            b"shared memory" => found.shape.shared_memory_bytes = whole(value),
            _ => {}
        })?;
        Ok(found)
    }
}

/// A whole number that fits.
pub(super) fn whole<T: TryFrom<i64>>(value: Value<'_>) -> Option<T> {
    value.number().and_then(integer).and_then(|number| T::try_from(number).ok())
}

/// The number of a stream or a process. It may stand in a name: `stream 7`.
pub(super) fn number(value: Value<'_>) -> Option<i64> {
    let text = value.number()?;
    integer(text).or_else(|| integer(text.strip_prefix(b"stream ")?))
}

fn triple(value: Value<'_>) -> Option<[u32; 3]> {
    let Value::Nested(text) = value else { return None };
    let inside = text.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut numbers = inside.split(|&byte| byte == b',').map(|part| whole(Value::Bare(part.trim_ascii())));
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

/// The text of a string with its escapes undone; what is no escape and no UTF-8 becomes U+FFFD, and the second is true.
pub(super) fn unescaped(raw: &[u8]) -> (Cow<'_, str>, bool) {
    if !raw.contains(&b'\\') {
        let text = String::from_utf8_lossy(raw);
        let broken = matches!(text, Cow::Owned(_));
        return (text, broken);
    }
    let text = String::from_utf8_lossy(raw);
    let broken = matches!(text, Cow::Owned(_));
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    // Line breaks that the writer did not escape.
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if letter.is_ascii_control() => quoted.push('\u{fffd}'),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    match serde_json::from_str::<String>(&quoted) {
        Ok(text) => (Cow::Owned(text), broken),
        // A path of Windows, say: its backslashes are meant.
        Err(_) => (Cow::Owned(text.into_owned()), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Event<'_> {
        Event::parse(text.as_bytes(), 0).expect("an event").0
    }

    #[test]
    fn takes_members_in_any_order() {
        let event = parse(
            r#"{"args": {"name": "inner", "stream": 7}, "dur": 2.5, "ts": 1, "name": "outer", "cat": "kernel", "ph": "X"}"#,
        );
        assert_eq!(event.class(), Class::Kernel);
        assert_eq!(event.name, Some(Value::Text(b"outer")));
        assert_eq!(event.times(), Ok((1000, 3500)));
        let arguments = Arguments::parse(event.arguments.expect("arguments")).expect("an object");
        assert_eq!(arguments.stream.and_then(number), Some(7));
    }

    #[test]
    fn goes_by_the_category() {
        let class =
            |category: &str| parse(&format!(r#"{{"ph": "X", "cat": "{category}", "args": {{"stream": 7}}}}"#)).class();
        assert_eq!(class("cpu_op"), Class::Other);
        assert_eq!(class("cuda_sync"), Class::Other);
        assert_eq!(class("gpu_user_annotation"), Class::Other);
        assert_eq!(class("xpu_runtime"), Class::Call);
        assert_eq!(class("Memset"), Class::Memory);
        assert_eq!(parse(r#"{"ph": "B", "cat": "kernel"}"#).class(), Class::Other);
        assert_eq!(parse("{}").class(), Class::Other);
    }

    #[test]
    fn reads_shapes_and_numbers() {
        let shape = Arguments::parse(
            br#"{"grid": [ 1,2 , 3 ], "block": [1,2], "shared memory": 48, "registers per thread": -1}"#,
        )
        .expect("an object")
        .shape;
        assert_eq!((shape.grid, shape.block), (Some([1, 2, 3]), None));
        assert_eq!((shape.shared_memory_bytes, shape.registers_per_thread), (Some(48), None));
        assert_eq!(number(Value::Text(b"stream 23")), Some(23));
        assert_eq!(number(Value::Text(b"Spans")), None);
    }

    #[test]
    fn undoes_escapes() {
        assert_eq!(unescaped(br#"a\"b\\c\u0041\n"#), ("a\"b\\cA\n".into(), false));
        assert_eq!(unescaped("模型".as_bytes()), ("模型".into(), false));
        assert_eq!(unescaped(br"C:\path\x"), (r"C:\path\x".into(), true));
        assert!(unescaped(b"a\xffb").1);
        assert_eq!(unescaped(b"a\n\\n"), ("a\n\n".into(), false));
    }
}
