//! The document `fastrnns-rs/summary` as text.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter};

use super::{Summary, escape};
use crate::memory;

/// So much is handed over at once.
const PIECE: usize = 1 << 20;

impl Summary {
    /// Writes the JSON document, indented, an array of numbers on one line; safe to print, and a newline ends it.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write_json(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(PIECE, out);
        // Only a map whose keys are no texts cannot be written, and a summary has none. What is not finite becomes null.
        let written =
            self.serialize(&mut Serializer::with_formatter(&mut out, Layout::default())).map_err(io::Error::from);
        let written = written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        if written.is_err() {
            // Else the buffer would be written once more when it is dropped.
            drop(out.into_parts());
        }
        written
    }

    /// The same as one text.
    pub fn to_json(&self) -> String {
        let mut text = memory::Grown::default();
        // Memory can be written to, and JSON is UTF-8.
        let _ = self.write_json(&mut text);
        String::from_utf8(text.0).unwrap_or_default()
    }
}

/// Two blanks for each level; numbers of an array follow each other on its line.
#[derive(Debug, Default)]
struct Layout {
    depth: usize,
    /// An element of an array comes next; its kind decides its place.
    awaits: bool,
    /// The array or object has an element.
    filled: bool,
    /// The last element was a number.
    number: bool,
}

impl Layout {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }

    /// In front of a value that is no number.
    fn other<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.number = false;
        if std::mem::take(&mut self.awaits) { self.line(out) } else { Ok(()) }
    }

    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.other(out)?;
        (self.depth, self.filled) = (self.depth + 1, false);
        out.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.filled && !self.number {
            self.line(out)?;
        }
        (self.filled, self.number) = (true, false);
        out.write_all(bracket)
    }
}

/// Numbers, as serde writes them anywhere.
macro_rules! numbers {
    ($($name:ident: $kind:ty),*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, out: &mut W, value: $kind) -> io::Result<()> {
            self.number = std::mem::take(&mut self.awaits);
            CompactFormatter.$name(out, value)
        }
    )*};
}

impl Formatter for Layout {
    numbers!(write_i64: i64, write_u32: u32, write_u64: u64, write_f64: f64);

    fn write_null<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.other(out)?;
        out.write_all(b"null")
    }

    fn write_bool<W: ?Sized + Write>(&mut self, out: &mut W, value: bool) -> io::Result<()> {
        self.other(out)?;
        out.write_all(if value { b"true" } else { b"false" })
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.other(out)?;
        out.write_all(b"\"")
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        out.write_all(escape::json(fragment).as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.awaits = true;
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        (self.filled, self.number) = (true, false);
        Ok(())
    }
}
