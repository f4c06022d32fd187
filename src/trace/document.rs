//! The document `fastrnns-rs/summary` as text.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::{Summary, escape};

const INDENT: &[u8] = b"  ";

impl Summary {
    /// The JSON document, indented, an array of numbers on one line; safe to print, and a newline ends it.
    pub fn to_json(&self) -> String {
        let mut bytes = Vec::new();
        let written = self.serialize(&mut Serializer::with_formatter(&mut bytes, Layout::default()));
        // Writing to memory cannot fail, and every key is a text. What is not finite becomes null.
        debug_assert!(written.is_ok());
        bytes.push(b'\n');
        escape::json(&String::from_utf8(bytes).unwrap_or_default())
    }
}

/// Each key and each object on a line of its own, but numbers of an array beside each other.
#[derive(Debug, Default)]
struct Layout {
    depth: usize,
    /// The next value is an element of an array.
    element: bool,
    /// The last value was an object.
    object: bool,
}

impl Layout {
    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(INDENT))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth += 1;
        self.object = false;
        writer.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.element = true;
        writer.write_all(if first { b"" } else { b"," })
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth -= 1;
        if self.object {
            self.line(writer)?;
        }
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        if self.element {
            self.line(writer)?;
        }
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        writer.write_all(if first { b"" } else { b"," })?;
        self.line(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.element = false;
        writer.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth -= 1;
        self.object = true;
        self.line(writer)?;
        writer.write_all(b"}")
    }
}
