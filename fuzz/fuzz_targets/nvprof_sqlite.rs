//! A profile of nvprof.
#![no_main]

use fastrnns_rs_fuzz::{format, read};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus {
    if format(input) != Some("nvprof-sqlite") {
        return Corpus::Reject;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    Corpus::Keep
});
