//! An export of nsys to SQLite.
#![no_main]

use fastrnns_rs_fuzz::{format, read};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus {
    if format(input) != Some("nsys-sqlite") {
        return Corpus::Reject;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for. A table that
        // breaks off counts as one more, and takes some bytes of the schema itself.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    Corpus::Keep
});
