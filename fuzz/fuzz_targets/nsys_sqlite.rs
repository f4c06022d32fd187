//! An export of nsys to SQLite.
#![no_main]

use fastrnns_rs_fuzz::nsys_sqlite;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if nsys_sqlite::check(input) { Corpus::Keep } else { Corpus::Reject } });
