//! Reads leaves, many at once where they lie close together.

use super::Stop;
use super::btree::Leaf;
use super::file::Pages;

/// Number of bytes that are read at once: they stay in a processor's own cache.
const WINDOW: usize = 256 << 10;
/// So many bytes of other pages are read along: skipping them takes longer.
const GAP: usize = 16 << 10;
/// Number of windows between two checks for an interruption.
const STRIDE: u32 = 32;

/// Leaves of a table, in the order of its rows.
pub(super) struct Leaves<'a> {
    pages: &'a Pages,
    rest: std::slice::Iter<'a, u32>,
    root: u32,
    stop: &'a dyn Fn() -> bool,
    buffer: Vec<u8>,
    /// The pages in `buffer`: the first, and how many.
    held: (u32, u32),
    windows: u32,
}

impl<'a> Leaves<'a> {
    pub(super) fn new(pages: &'a Pages, leaves: &'a [u32], root: u32, stop: &'a dyn Fn() -> bool) -> Self {
        Self { pages, rest: leaves.iter(), root, stop, buffer: Vec::new(), held: (0, 0), windows: 0 }
    }

    /// The next leaf.
    pub(super) fn next(&mut self) -> Result<Option<Leaf<'_>>, Stop> {
        let Some(&page) = self.rest.next() else { return Ok(None) };
        let is_held = |(first, count): (u32, u32)| page.checked_sub(first).is_some_and(|place| place < count);
        if !is_held(self.held) {
            if self.windows.is_multiple_of(STRIDE) && (self.stop)() {
                return Err(Stop::Interrupted);
            }
            self.windows += 1;
            self.held = (0, 0);
            let count = self.run(page);
            self.pages.load(page, count as usize, &mut self.buffer)?;
            self.held = (page, count);
        }
        let at = (page - self.held.0) as usize * self.pages.size;
        Leaf::new(&self.buffer[at..], self.pages, page == self.root).map(Some)
    }

    /// Returns the number of pages from `first` on that are read at once: up to the last leaf that is near enough.
    fn run(&self, first: u32) -> u32 {
        let most = (WINDOW / self.pages.size).max(1) as u32;
        let gap = (GAP / self.pages.size) as u32;
        let mut end = first + 1;
        for &page in self.rest.as_slice() {
            if page < end || page - end > gap || page - first >= most {
                break;
            }
            end = page + 1;
        }
        end - first
    }
}
