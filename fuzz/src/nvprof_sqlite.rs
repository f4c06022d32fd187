//! A profile of nvprof.

use super::reading::{format, read};

/// Checks a file; returns whether it is one of this target.
///
/// # Panics
/// Something does not hold.
pub fn check(input: &[u8]) -> bool {
    if format(input) != Some("nvprof-sqlite") {
        return false;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    true
}
