//! A text line by line, whatever it holds.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use crate::error::{Error, Result};
use crate::trace::readers::Interrupted;

/// Names are cut at four kilobytes, so no row is longer.
const LONGEST: usize = 1 << 16;
/// Number of lines, or of parts of a long one, between two checks for an interruption.
const STRIDE: u64 = 1 << 12;

/// The lines of a text.
pub(super) struct Lines<'a, R: Read> {
    source: BufReader<R>,
    interrupted: Interrupted<'a>,
    parts: u64,
    bytes: Vec<u8>,
    text: String,
    next: u64,
    /// The error with which the text breaks off.
    pub(super) fault: Option<String>,
    /// True if the line that was last read has no end: the file ends in it or behind it.
    pub(super) is_open: bool,
    /// Position of the line that was last read.
    pub(super) offset: u64,
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(source: R, interrupted: Interrupted<'a>) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        let (bytes, text) = (Vec::new(), String::new());
        Self { source, interrupted, parts: 0, bytes, text, next: 0, fault: None, is_open: false, offset: 0 }
    }

    /// The next line; `Some(None)` for one that is too long, or where the text breaks off.
    #[allow(clippy::option_option, reason = "the end, a line that cannot be read, and a line")]
    pub(super) fn next(&mut self) -> Result<Option<Option<&str>>> {
        if self.fault.is_some() {
            return Ok(None);
        }
        self.offset = self.next;
        self.bytes.clear();
        let mut whole = true;
        loop {
            if self.parts.is_multiple_of(STRIDE) && (self.interrupted)() {
                return Err(Error::Interrupted);
            }
            let part = match self.source.fill_buf() {
                Ok([]) if self.next == self.offset => return Ok(None),
                Ok(part) => part,
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    // Nothing else may arrive for long.
                    self.parts = 0;
                    continue;
                }
                Err(error) => {
                    self.fault = Some(error.to_string());
                    return Ok(Some(None));
                }
            };
            self.parts += 1;
            let end = memchr::memchr(b'\n', part);
            let length = end.map_or(part.len(), |end| end + 1);
            if self.bytes.len() + length <= LONGEST {
                self.bytes.extend_from_slice(&part[..length]);
            } else {
                whole = false;
            }
            self.source.consume(length);
            self.next += length as u64;
            self.is_open = end.is_none();
            if end.is_some() || length == 0 {
                break;
            }
        }
        if !whole {
            return Ok(Some(None));
        }
        self.text.clear();
        let text = String::from_utf8_lossy(&self.bytes);
        self.text.push_str(without_mark(&text).trim_end_matches(['\n', '\r']));
        Ok(Some(Some(&self.text)))
    }
}

/// A text without the byte order mark that Windows writes in front of it.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
