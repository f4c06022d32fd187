//! A profile of nvprof.
#![no_main]

use fastrnns_rs_fuzz::nvprof_sqlite;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if nvprof_sqlite::check(input) { Corpus::Keep } else { Corpus::Reject } });
