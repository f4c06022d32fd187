//! Common parts of the readers of SQLite files: a file that is not trusted is opened, and the rows of its tables are read,
//! whatever they hold.

pub(super) mod database;
pub(super) mod numbers;
pub(super) mod pages;
pub(super) mod progress;
mod step_limit;
pub(super) mod strings;
pub(super) mod tally;

/// Start of a database.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Reason why a file is not read, and a hint.
pub(super) type Refusal = (String, &'static str);
