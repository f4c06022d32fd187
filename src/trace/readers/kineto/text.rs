//! A stream of bytes of which a part lies in memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::Interrupted;
use crate::error::{Error, Result};
use crate::memory::{self, Room as _};

/// Number of bytes that are read at once.
pub(super) const STEP: usize = 256 * 1024;
/// The longest thing that is held whole. A longer event is passed over.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;

/// A file from some place on, which other sections may read too.
pub(super) struct Section {
    file: Arc<File>,
    place: u64,
}

impl Section {
    pub(super) fn new(file: &Arc<File>, place: u64) -> Self {
        Self { file: Arc::clone(file), place }
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.place)?;
        self.place += count as u64;
        Ok(count)
    }
}

/// A window that moves over a stream.
pub(super) struct Text {
    source: Box<dyn Read>,
    buffer: Vec<u8>,
    /// Start of the window in `buffer`, and its end.
    start: usize,
    end: usize,
    /// Position of `buffer` in the stream.
    offset: u64,
    ended: bool,
    fault: Option<String>,
    step: usize,
}

impl Text {
    /// A window over `source`, which begins at `offset` and of which `step` bytes are read at once.
    pub(super) fn new(source: Box<dyn Read>, offset: u64, step: usize) -> Self {
        Self { source, buffer: Vec::new(), start: 0, end: 0, offset, ended: false, fault: None, step }
    }

    /// Returns the text in memory from the current place on.
    pub(super) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the position of the window in the stream.
    pub(super) fn position(&self) -> u64 {
        self.offset + self.start as u64
    }

    /// Moves the window's beginning on by `length` bytes, which lie in it.
    pub(super) fn pass(&mut self, length: usize) {
        self.start = self.start.saturating_add(length).min(self.end);
    }

    /// Reads on, and returns true if the window has grown; it does not at the end of the stream.
    ///
    /// # Errors
    /// The caller has interrupted it.
    pub(super) fn grow(&mut self, interrupted: Interrupted<'_>) -> Result<bool> {
        if interrupted() {
            return Err(Error::Interrupted);
        }
        if self.ended {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.offset += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        let before = self.end;
        // A long value is parsed again with every step, so steps grow with it.
        let wanted = before + before.max(self.step);
        if self.buffer.len() < wanted {
            self.buffer.room(wanted - self.buffer.len());
            self.buffer.resize(wanted, 0);
        }
        while self.end < wanted {
            match self.source.read(&mut self.buffer[self.end..wanted]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                // A signal, while nothing came: whether it means us, the caller knows.
                Err(error) if error.kind() == ErrorKind::Interrupted && interrupted() => {
                    return Err(Error::Interrupted);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::OutOfMemory => memory::fail(None),
                Err(error) => {
                    // What could be read before it is good.
                    self.fault = Some(error.to_string());
                    self.ended = true;
                }
            }
            if self.ended {
                break;
            }
        }
        Ok(self.end > before)
    }

    /// The next byte that is not white space, which stays in the window; `None` at the end.
    pub(super) fn peek(&mut self, interrupted: Interrupted<'_>) -> Result<Option<u8>> {
        loop {
            let space = super::value::skip_space(self.window(), 0);
            self.pass(space);
            if let Some(&byte) = self.window().first() {
                return Ok(Some(byte));
            }
            if !self.grow(interrupted)? {
                return Ok(None);
            }
        }
    }

    /// Returns the reason why the stream could not be read to its end.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}
