//! The b-tree of a table: interior pages point to others, leaves hold rows.

use super::file::{PADDING, Pages};
use super::varint::{self, short_varint, varint};
use super::{Stop, usual};
use crate::memory::Room as _;

const INTERIOR: u8 = 5;
const LEAF: u8 = 13;
const INTERIOR_HEADER: usize = 12;
const LEAF_HEADER: usize = 8;
/// No table of 2³² pages is deeper, and SQLite goes no deeper than 20.
const DEEPEST: usize = 18;

/// Returns the leaves of a table in the order of its rows. `budget` limits the number of pages: a cyclic table has no end.
pub(super) fn leaves(
    pages: &Pages,
    root: u32,
    budget: &mut u64,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<u32>, Stop> {
    let mut level = vec![root];
    let mut buffer = Vec::new();
    for _ in 0..DEEPEST {
        *budget = usual(budget.checked_sub(level.len() as u64))?;
        if !level.iter().all(|&page| pages.holds(page)) {
            return Err(Stop::Unusual);
        }
        // All leaves are equally deep; else reading them fails.
        pages.load(level[0], 1, &mut buffer)?;
        if buffer.first() == Some(&LEAF) {
            return Ok(level);
        }
        let mut below = Vec::new();
        for &page in &level {
            if interrupted() {
                return Err(Stop::Interrupted);
            }
            pages.load(page, 1, &mut buffer)?;
            usual(children(&buffer, pages, &mut below))?;
            if below.len() as u64 > *budget {
                return Err(Stop::Unusual);
            }
        }
        level = below;
    }
    Err(Stop::Unusual)
}

/// Adds the pages to which an interior page points.
fn children(page: &[u8], pages: &Pages, below: &mut Vec<u32>) -> Option<()> {
    let cells = cells(page, pages, INTERIOR, INTERIOR_HEADER).filter(|cells| !cells.is_empty())?;
    let number = |at: usize| Some(u32::from_be_bytes(page.get(at..at + 4)?.try_into().ok()?));
    let first = INTERIOR_HEADER + cells.len();
    for at in places(cells) {
        let (_, end) = varint(page, at + 4)?;
        if at < first || end > pages.usable {
            return None;
        }
        below.put(number(at)?);
    }
    below.put(number(LEAF_HEADER)?);
    Some(())
}

/// The places of the cells of a page, two bytes each.
fn cells<'a>(page: &'a [u8], pages: &Pages, kind: u8, header: usize) -> Option<&'a [u8]> {
    let &[found, _, _, high, low, ..] = page else { return None };
    let count = usize::from(u16::from_be_bytes([high, low]));
    // A cell takes six bytes at least.
    let fits = found == kind && count <= (pages.size - 8) / 6;
    page.get(header..header + 2 * count).filter(|_| fits)
}

fn places(cells: &[u8]) -> impl Iterator<Item = usize> {
    cells.chunks_exact(2).map(|place| usize::from(u16::from_be_bytes([place[0], place[1]])))
}

/// A page of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'a> {
    /// With [`PADDING`] behind it.
    bytes: &'a [u8],
    cells: &'a [u8],
    usable: usize,
}

/// The record of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payload {
    pub(super) at: usize,
    /// All of it, wherever it lies.
    pub(super) length: usize,
    /// True if all of it is in this page.
    pub(super) is_whole: bool,
}

impl<'a> Leaf<'a> {
    /// The leaf at the beginning of `bytes`. Only that of an empty table, which is its root, has no rows.
    pub(super) fn new(bytes: &'a [u8], pages: &Pages, is_root: bool) -> Result<Self, Stop> {
        let bytes = usual(bytes.get(..pages.size + PADDING))?;
        let cells = usual(cells(bytes, pages, LEAF, LEAF_HEADER))?;
        if cells.is_empty() && !is_root {
            return Err(Stop::Unusual);
        }
        Ok(Self { bytes, cells, usable: pages.usable })
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The rows, in their order.
    pub(super) fn rows(self) -> impl Iterator<Item = Result<Payload, Stop>> {
        places(self.cells).map(move |at| usual(self.row(at)))
    }

    fn row(&self, at: usize) -> Option<Payload> {
        let (length, key) = short_varint(self.bytes, at)?;
        let begin = varint::end(self.bytes, key)?;
        let length = usize::try_from(i32::try_from(length).ok()?).ok()?;
        let most = self.usable - 35;
        let (is_whole, end) = if length <= most {
            // SQLite gives no cell less than four bytes.
            (true, (begin + length).max(at + 4))
        } else {
            let least = (self.usable - 12) * 32 / 255 - 23;
            let here = least + (length - least) % (self.usable - 4);
            // The number of the page on which it goes on takes four bytes.
            (false, begin + if here <= most { here } else { least } + 4)
        };
        let lies_inside = at >= LEAF_HEADER + self.cells.len() && end <= self.usable;
        lies_inside.then_some(Payload { at: begin, length, is_whole })
    }
}
