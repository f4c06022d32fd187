//! An export of nsys to SQLite.
#![no_main]

use fastrnns_rs_fuzz::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(summary) = read(input) else { return };
    if let [capture] = summary.captures.as_slice()
        && capture.format == "nsys-sqlite"
    {
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for. A table that
        // breaks off counts as one more, and takes some bytes of the schema itself.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
});
