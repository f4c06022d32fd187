//! An export of nsys to SQLite.

use super::reading::check_database;

/// Checks a file; returns whether it is one of this target.
///
/// # Panics
/// Something does not hold.
pub fn check(input: &[u8]) -> bool {
    check_database(input, "nsys-sqlite")
}
