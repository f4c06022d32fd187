//! A profile of nvprof.
#![no_main]

use fastrnns_rs_fuzz::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(summary) = read(input) else { return };
    if let [capture] = summary.captures.as_slice()
        && capture.format == "nvprof-sqlite"
    {
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
});
