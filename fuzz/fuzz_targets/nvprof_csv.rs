//! Tables that nvprof printed, and text of no format.
#![no_main]

use fastrnns_rs_fuzz::{COMPRESSED, format, read};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus {
    if input.starts_with(COMPRESSED) || format(input).is_some_and(|format| format != "nvprof-csv") {
        return Corpus::Reject;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // A row is a line, and takes two bytes at least.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    Corpus::Keep
});
