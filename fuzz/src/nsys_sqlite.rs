//! An export of nsys to SQLite.

use super::reading::{format, read};

/// Checks a file; returns whether it is one of this target.
///
/// # Panics
/// Something does not hold.
pub fn check(input: &[u8]) -> bool {
    if format(input) != Some("nsys-sqlite") {
        return false;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for. A table that
        // breaks off counts as one more, and takes some bytes of the schema itself.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    true
}
