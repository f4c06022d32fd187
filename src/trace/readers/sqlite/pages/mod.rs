//! Reads the pages of a database without SQLite, which takes ten times as long for a table of millions of rows.
//!
//! SQLite still opens the file, finds its tables and understands their columns. What is read here is what most exports
//! consist of: b-trees of rows that fit on a page. Whatever else a file holds, and whatever is wrong with it, ends in
//! [`Stop::Unusual`], after which the table is read by SQLite from its beginning: nothing is repaired or guessed here.
//! Each check that SQLite makes on its way through a table is made here too, so that both find the same rows.

mod btree;
mod file;
mod leaves;
mod memo;
mod record;
mod rows;
mod value;
mod varint;

pub(in crate::trace::readers) use file::Pages;
pub(in crate::trace::readers) use record::Place;
pub(in crate::trace::readers) use rows::Scan;
pub(in crate::trace::readers) use value::Value;

/// Reason why reading has stopped before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trace::readers) enum Stop {
    /// The table is to be read by SQLite.
    Unusual,
    Interrupted,
}

/// Returns the value, or [`Stop::Unusual`] without one.
fn usual<T>(found: Option<T>) -> Result<T, Stop> {
    found.ok_or(Stop::Unusual)
}
