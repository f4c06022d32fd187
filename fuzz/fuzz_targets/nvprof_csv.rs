//! Tables that nvprof printed, and text of no format.
#![no_main]

use fastrnns_rs_fuzz::nvprof_csv;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if nvprof_csv::check(input) { Corpus::Keep } else { Corpus::Reject } });
