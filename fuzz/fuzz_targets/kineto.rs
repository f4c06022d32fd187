//! A trace in JSON: as it is, compressed, a few bytes at once, and in pieces.
#![no_main]

use std::io::Write as _;

use fastrnns_rs::trace::{Summary, readers};
use fastrnns_rs_fuzz::{SHOWN, read, read_by};
use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(whole) = read(input).map(comparable) else { return };
    if input.starts_with(b"\x1f\x8b") {
        return;
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(input).expect("memory takes anything");
    let packed = packed.finish().expect("memory takes anything");
    assert_eq!(read(&packed).map(comparable).as_ref(), Some(&whole), "compressed");

    // A short text lies in the window as a whole, and in one piece, unless it is told otherwise. Three bytes at least: a
    // byte order mark is looked for in the first.
    let step = 3 + input.len() % 61;
    for piece in [u64::MAX, 16 + input.len() as u64 % 509] {
        let parts = read_by(input, |path, trace| readers::read_grains(path, SHOWN, trace, step, piece));
        assert_eq!(parts.map(comparable).as_ref(), Some(&whole), "{step} bytes at once, {piece} bytes a piece");
    }
});

/// The summary without what is known of the file alone, and the warnings that are of any format.
fn comparable(mut summary: Summary) -> Summary {
    for capture in &mut summary.captures {
        (capture.size_bytes, capture.sha256) = (0, None);
    }
    summary.warnings.retain(|warning| !["no_device_operations", "events_skipped"].contains(&warning.code));
    summary
}
