//! The file as a row of pages.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::{Stop, usual};
use crate::memory::Room as _;

/// Padding after a page in its buffer, so that a number can be loaded as eight bytes wherever it ends.
pub(in crate::trace::readers) const PADDING: usize = 8;
/// The byte that programs lock in place of the file; nothing is stored on its page.
const LOCKED: u64 = 1 << 30;
/// The smallest part of a page that SQLite works with.
const LEAST_USABLE: usize = 480;

/// A file of which all pages are there.
#[derive(Debug)]
pub(in crate::trace::readers) struct Pages {
    file: File,
    pub(super) size: usize,
    /// The part of each page that holds data.
    pub(super) usable: usize,
    pub(super) count: u32,
    /// True if texts are in UTF-8.
    pub(super) has_utf8: bool,
}

impl Pages {
    /// Opens a file with a header as SQLite writes it, and the size in the header.
    pub(in crate::trace::readers) fn open(path: &Path, header: &[u8], size_bytes: u64) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
        let size = match u16::from_be_bytes(header.get(16..18)?.try_into().ok()?) {
            1 => 1 << 16,
            size if size >= 512 && size.is_power_of_two() => usize::from(size),
            _ => return None,
        };
        let usable = size - usize::from(*header.get(20)?);
        let is_usual = usable >= LEAST_USABLE
            && header.get(18..20)?.iter().all(|version| (1..=2).contains(version))
            && header.get(21..24)? == [64, 32, 32];
        // The count of pages is that of the last program that wrote one.
        let count = word(28)?;
        let is_whole = word(24)? == word(92)? && u64::from(count) * size as u64 == size_bytes;
        let has_utf8 = word(56)? == 1;
        (is_usual && is_whole).then_some(Self { file: File::open(path).ok()?, size, usable, count, has_utf8 })
    }

    /// Returns the number of pages after which the file counts as a cycle: all that are stored, twice.
    pub(in crate::trace::readers) fn budget(&self, stored_bytes: u64) -> u64 {
        2 * stored_bytes.div_ceil(self.size as u64)
    }

    /// Returns true if a b-tree may have this page, any but the first.
    pub(super) fn holds(&self, page: u32) -> bool {
        (2..=self.count).contains(&page) && u64::from(page - 1) != LOCKED / self.size as u64
    }

    /// Reads pages that lie one behind the other into `buffer`, and [`PADDING`] bytes of anything.
    pub(super) fn load(&self, first: u32, count: usize, buffer: &mut Vec<u8>) -> Result<(), Stop> {
        let bytes = count * self.size;
        if buffer.len() < bytes + PADDING {
            buffer.room(bytes + PADDING - buffer.len());
            buffer.resize(bytes + PADDING, 0);
        }
        let at = u64::from(usual(first.checked_sub(1))?) * self.size as u64;
        usual(self.file.read_exact_at(usual(buffer.get_mut(..bytes))?, at).ok())
    }
}
