//! The arguments of a device's operation, and of the call that launched it.

use super::decimal::digits;
use super::meaning::{named, whole};
use super::phrases::Phrases;
use super::plain::{Layout, Members, Next};
use super::value::{Fault, Value, members};
use crate::trace::Shape;

/// A member of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Device,
    Stream,
    Correlation,
    Grid,
    Block,
    Registers,
    SharedMemory,
    Bytes,
    Kind,
    GraphNode,
    InGraph,
    Process,
    Other,
}

impl Argument {
    pub(super) fn named(key: &[u8]) -> Self {
        match key {
            b"device" => Self::Device,
            b"stream" => Self::Stream,
            b"correlation" => Self::Correlation,
            b"grid" => Self::Grid,
            b"block" => Self::Block,
            b"registers per thread" => Self::Registers,
            b"shared memory" => Self::SharedMemory,
            b"bytes" => Self::Bytes,
            b"kind" => Self::Kind,
            b"graph node id" => Self::GraphNode,
            b"in graph" => Self::InGraph,
            b"process id" => Self::Process,
            _ => Self::Other,
        }
    }
}

/// Bits of the members that make a launch shape.
const SHAPE: u32 = 1 << Argument::Grid as u32
    | 1 << Argument::Block as u32
    | 1 << Argument::Registers as u32
    | 1 << Argument::SharedMemory as u32;

/// Arguments of a device operation.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) device: Option<Value<'a>>,
    pub(super) stream: Option<Value<'a>>,
    pub(super) bytes: Option<Value<'a>>,
    pub(super) kind: Option<Value<'a>>,
    pub(super) shape: Shape,
    /// Correlation ID that it shares with its call; 0 if missing.
    pub(super) correlation: u64,
    /// True for a node of a graph.
    pub(super) in_graph: bool,
    /// Process of the operation; only traces that we have merged record it here.
    pub(super) process: Option<Value<'a>>,
}

impl<'a> Arguments<'a> {
    /// The arguments at the beginning of a text. `shapes` has those of kernels, with the key of this one.
    pub(super) fn parse(
        text: &'a [u8],
        layout: &mut Layout<Argument>,
        shapes: Option<(u64, &mut Phrases<Shape>)>,
    ) -> Result<Self, Fault> {
        let mut found = Self::default();
        if !text.starts_with(b"{") {
            return Ok(found);
        }
        if found.take_plain(text, layout, shapes).is_some() {
            return Ok(found);
        }
        found = Self::default();
        members(text, 0, |key, value| found.take(named(key, Argument::named), value))?;
        Ok(found)
    }

    /// Takes the arguments; `None` if they are not written as most are.
    ///
    /// The text behind the correlation is the same for all launches of a kernel with the same shape.
    fn take_plain(
        &mut self,
        text: &'a [u8],
        layout: &mut Layout<Argument>,
        shapes: Option<(u64, &mut Phrases<Shape>)>,
    ) -> Option<()> {
        let mut members = Members::of(text, layout);
        // Start of that text, and bits of its members.
        let mut end = None;
        while let Next::Key(argument) = members.next()? {
            let value = members.value()?;
            self.take(argument, value);
            match &mut end {
                Some((_, seen)) => *seen |= 1 << argument as u32,
                None if argument == Argument::Correlation => {
                    let known = shapes.as_ref().and_then(|(key, shapes)| shapes.find(*key, members.rest()));
                    if let Some((shape, _)) = known {
                        self.shape = shape;
                        return Some(());
                    }
                    end = Some((members.at(), 0));
                }
                None => {}
            }
        }
        if let (Some((start, seen)), Some((key, shapes))) = (end, shapes)
            && seen & !(1 << Argument::Other as u32) == SHAPE
        {
            shapes.add(key, &text[start..members.at()], self.shape);
        }
        Some(())
    }

    #[inline]
    fn take(&mut self, argument: Argument, value: Value<'a>) {
        match argument {
            Argument::Device => self.device = Some(value),
            Argument::Stream => self.stream = Some(value),
            Argument::Correlation => self.correlation = identity(value),
            Argument::Grid => self.shape.grid = triple(value),
            Argument::Block => self.shape.block = triple(value),
            Argument::Registers => self.shape.registers_per_thread = whole(value),
            Argument::SharedMemory => self.shape.shared_memory_bytes = whole(value),
            Argument::Bytes => self.bytes = Some(value),
            Argument::Kind => self.kind = Some(value),
            Argument::GraphNode => self.in_graph = identity(value) != 0,
            Argument::InGraph => self.in_graph = matches!(value, Value::Bare(b"true")),
            Argument::Process => self.process = Some(value),
            Argument::Other => {}
        }
    }
}

/// Returns the correlation ID of a call whose arguments begin `text`; 0 if missing.
pub(super) fn correlation(text: &[u8], layout: &mut Layout<Argument>) -> Result<u64, Fault> {
    if !text.starts_with(b"{") {
        return Ok(0);
    }
    if let Some(found) = plain_correlation(text, layout) {
        return Ok(found);
    }
    let mut found = 0;
    members(text, 0, |key, value| {
        if named(key, Argument::named) == Argument::Correlation {
            found = identity(value);
        }
    })?;
    Ok(found)
}

/// The same, as far as it is needed; `None` if the arguments are not written as most are.
fn plain_correlation(text: &[u8], layout: &mut Layout<Argument>) -> Option<u64> {
    let mut members = Members::of(text, layout);
    while let Next::Key(argument) = members.next()? {
        let value = members.value()?;
        if argument == Argument::Correlation {
            return Some(identity(value));
        }
    }
    Some(0)
}

/// Returns a number that identifies something, in quotes or not; 0 for anything else.
fn identity(value: Value<'_>) -> u64 {
    let parsed = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
    value.number().and_then(|text| digits(text).or_else(|| parsed(text))).unwrap_or(0)
}

fn triple(value: Value<'_>) -> Option<[u32; 3]> {
    let Value::Nested(text) = value else { return None };
    let inside = text.strip_prefix(b"[")?.strip_suffix(b"]")?;
    if let Some(found) = plain_triple(inside) {
        return Some(found);
    }
    let mut numbers = inside.split(|&byte| byte == b',').map(|part| whole(Value::Bare(part.trim_ascii())));
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

/// The same where each number is a few digits, with a space in front of it at most.
fn plain_triple(inside: &[u8]) -> Option<[u32; 3]> {
    let (mut found, mut at) = ([0; 3], 0);
    for (place, number) in found.iter_mut().enumerate() {
        at += usize::from(place > 0 && inside.get(at) == Some(&b' '));
        let digits = inside.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        at += digits;
        // Nine digits always fit.
        let ends = place == 2 || inside.get(at) == Some(&b',');
        (ends && (1..=9).contains(&digits)).then_some(())?;
        *number = inside[at - digits..at].iter().fold(0, |number, byte| number * 10 + u32::from(byte - b'0'));
        at += usize::from(place < 2);
    }
    (at == inside.len()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Arguments<'_> {
        Arguments::parse(text.as_bytes(), &mut Layout::new(Argument::named), None).expect("an object")
    }

    #[test]
    fn reads_shapes_and_numbers() {
        let shape =
            parse(r#"{"grid": [ 1,2 , 3 ], "block": [1,2], "shared memory": 48, "registers per thread": -1}"#).shape;
        assert_eq!((shape.grid, shape.block), (Some([1, 2, 3]), None));
        assert_eq!((shape.shared_memory_bytes, shape.registers_per_thread), (Some(48), None));
        for (grid, expected) in [
            ("[4294967295, 0,1]", Some([u32::MAX, 0, 1])),
            ("[4294967296, 1, 1]", None),
            ("[99999999999999999999, 1, 1]", None),
            ("[1e1, 2.0, 3]", Some([10, 2, 3])),
            ("[1, 2, 3, 4]", None),
            ("[1, , 3]", None),
            ("[]", None),
        ] {
            assert_eq!(parse(&format!(r#"{{"grid": {grid}}}"#)).shape.grid, expected, "{grid}");
        }
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
            assert_eq!(correlation(text.as_bytes(), &mut Layout::new(Argument::named)), Ok(expected), "{text}");
            assert_eq!(parse(text).correlation, expected, "{text}");
        }
        let of = |text: &str| parse(text).in_graph;
        assert!(of(r#"{"graph node id": 5}"#) && of(r#"{"in graph": true}"#));
        assert!(!of(r#"{"graph node id": 0}"#) && !of(r#"{"in graph": 1}"#) && !of("{}"));
    }
}
