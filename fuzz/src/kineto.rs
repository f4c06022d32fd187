//! A trace in JSON: as it is, compressed, a few bytes at once, and in pieces.

use std::io::Write as _;

use super::reading::{COMPRESSED, SHOWN, format, read, read_by};
use fastrnns_rs::trace::{Summary, readers};
use flate2::{Compression, write::GzEncoder};

/// Checks a file; returns whether it is one of this target.
///
/// # Panics
/// Something does not hold.
pub fn check(input: &[u8]) -> bool {
    let is_compressed = input.starts_with(COMPRESSED);
    if !is_compressed && format(input) != Some("kineto") {
        return false;
    }
    let Some(whole) = read(input).map(comparable) else { return true };
    if is_compressed {
        return true;
    }
    // One other way each: that leaves time for three times as many inputs.
    let step = 1 + input.len() % 61;
    let (way, parts) = match input.len() % 3 {
        0 => ("compressed", read(&compressed(input))),
        1 => ("a few bytes at once", read_finely(input, step, u64::MAX)),
        _ => ("in pieces", read_finely(input, step, 16 + input.len() as u64 % 509)),
    };
    assert_eq!(parts.map(comparable), Some(whole), "{way}");
    true
}

fn compressed(input: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(input).expect("memory takes anything");
    packed.finish().expect("memory takes anything")
}

/// Reads a text in small parts. A short text would be read at once and in one piece.
fn read_finely(input: &[u8], step: usize, piece: u64) -> Option<Summary> {
    read_by(input, |path, trace| readers::read_grains(path, SHOWN, trace, step, piece))
}

/// The summary without what is known of the file alone, and the warnings that are of any format.
fn comparable(mut summary: Summary) -> Summary {
    for capture in &mut summary.captures {
        (capture.size_bytes, capture.sha256) = (0, None);
    }
    summary.warnings.retain(|warning| warning.code != "events_skipped");
    summary
}
