//! A text line by line, whatever it holds.

use std::io::{BufRead, BufReader, Read};

/// Names are cut at four kilobytes, so no row is longer.
const LONGEST: usize = 1 << 16;

/// The lines of a text.
pub(super) struct Lines<R: Read> {
    source: BufReader<R>,
    bytes: Vec<u8>,
    text: String,
    next: u64,
    broken: bool,
    /// Position of the line that was last read.
    pub(super) offset: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        Self { source, bytes: Vec::new(), text: String::new(), next: 0, broken: false, offset: 0 }
    }

    /// The next line; `Some(None)` for one that is too long, or where the text breaks off.
    #[allow(clippy::option_option, reason = "the end, a line that cannot be read, and a line")]
    pub(super) fn next(&mut self) -> Option<Option<&str>> {
        if self.broken {
            return None;
        }
        self.offset = self.next;
        self.bytes.clear();
        let mut whole = true;
        loop {
            let part = match self.source.fill_buf() {
                Ok([]) if self.next == self.offset => return None,
                Ok(part) => part,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.broken = true;
                    return Some(None);
                }
            };
            let end = memchr::memchr(b'\n', part);
            let length = end.map_or(part.len(), |end| end + 1);
            if self.bytes.len() + length <= LONGEST {
                self.bytes.extend_from_slice(&part[..length]);
            } else {
                whole = false;
            }
            self.source.consume(length);
            self.next += length as u64;
            if end.is_some() || length == 0 {
                break;
            }
        }
        if !whole {
            return Some(None);
        }
        self.text.clear();
        self.text.push_str(String::from_utf8_lossy(&self.bytes).trim_end_matches(['\n', '\r']));
        Some(Some(&self.text))
    }
}
