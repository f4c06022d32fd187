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
        // nvprof names any number of lost records. A row is a line, and takes two bytes at least.
        let is_lost = |reason: &str| reason.contains("nvprof") || reason.ends_with("of the profile");
        let rows = capture.skipped.iter().filter(|skipped| !is_lost(&skipped.reason)).map(|skipped| skipped.count);
        assert!(capture.events_read + rows.sum::<u64>() <= input.len() as u64);
    }
    true
}
