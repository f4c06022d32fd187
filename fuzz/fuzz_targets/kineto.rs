//! A trace in JSON: as it is, compressed, a few bytes at once, and in pieces.
#![no_main]

use fastrnns_rs_fuzz::kineto;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if kineto::check(input) { Corpus::Keep } else { Corpus::Reject } });
