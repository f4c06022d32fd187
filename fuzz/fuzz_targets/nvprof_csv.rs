//! Tables that nvprof printed.
#![no_main]

use fastrnns_rs_fuzz::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(summary) = read(input) else { return };
    if let [capture] = summary.captures.as_slice()
        && capture.format == "nvprof-csv"
        && !input.starts_with(b"\x1f\x8b")
    {
        // A row is a line, and takes two bytes at least.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
});
