//! What the readers of SQLite files have in common: a file that nobody vouches for is opened, and the rows of its tables are
//! gone through, whatever they hold.

pub(super) mod database;
pub(super) mod numbers;
pub(super) mod pages;
pub(super) mod progress;
pub(super) mod strings;
pub(super) mod tally;

/// How a database begins.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Why a file is not read, and what to do.
pub(super) type Refusal = (String, &'static str);
