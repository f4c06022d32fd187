//! The arguments of a device's operation.

use super::event::whole;
use super::plain::{Members, Next, word};
use super::value::{Fault, Value, members};
use crate::trace::Shape;

// Arguments, a bit each, and all that a kernel and a memory operation have.
const DEVICE: u32 = 1;
const STREAM: u32 = 2;
const GRID: u32 = 4;
const BLOCK: u32 = 8;
const REGISTERS: u32 = 16;
const SHARED: u32 = 32;
const BYTES: u32 = 64;
const KIND: u32 = 128;
const KERNEL: u32 = DEVICE | STREAM | GRID | BLOCK | REGISTERS | SHARED;
const MEMORY: u32 = DEVICE | STREAM | BYTES | KIND;

/// What the arguments of a device's operation say of it.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) device: Option<Value<'a>>,
    pub(super) stream: Option<Value<'a>>,
    pub(super) bytes: Option<Value<'a>>,
    pub(super) kind: Option<Value<'a>>,
    pub(super) shape: Shape,
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

    /// Takes the arguments as far as they are needed; `None` if they are not written as most are.
    fn take_plain(&mut self, text: &'a [u8]) -> Option<()> {
        let (mut members, mut seen) = (Members::of(text), 0);
        while let Next::Key(first, key) = members.next()? {
            let value = members.value()?;
            seen |= self.take(first, key, value);
            if seen & KERNEL == KERNEL || seen & MEMORY == MEMORY {
                break;
            }
        }
        Some(())
    }

    /// Takes the member whose key begins with this [`word`], and says which it was.
    #[inline]
    fn take(&mut self, first: u64, key: &[u8], value: Value<'a>) -> u32 {
        match first {
            first if first == word(b"device") => {
                self.device = Some(value);
                DEVICE
            }
            first if first == word(b"stream") => {
                self.stream = Some(value);
                STREAM
            }
            first if first == word(b"grid") => {
                self.shape.grid = triple(value);
                GRID
            }
            first if first == word(b"block") => {
                self.shape.block = triple(value);
                BLOCK
            }
            first if first == word(b"register") && key == b"registers per thread" => {
                self.shape.registers_per_thread = whole(value);
                REGISTERS
            }
            first if first == word(b"shared memory") && key == b"shared memory" => {
                self.shape.shared_memory_bytes = whole(value);
                SHARED
            }
            first if first == word(b"bytes") => {
                self.bytes = Some(value);
                BYTES
            }
            first if first == word(b"kind") => {
                self.kind = Some(value);
                KIND
            }
            _ => 0,
        }
    }
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
}
