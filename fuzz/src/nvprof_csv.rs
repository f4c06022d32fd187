//! Tables that nvprof printed, and text of no format.

use super::reading::{COMPRESSED, format, read};

/// Checks a file; returns whether it is one of this target.
///
/// # Panics
/// Something does not hold.
pub fn check(input: &[u8]) -> bool {
    if input.starts_with(COMPRESSED) || format(input).is_some_and(|format| format != "nvprof-csv") {
        return false;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // A row is a line, and takes two bytes at least.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    true
}
