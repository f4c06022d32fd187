//! A name, wherever one may stand: it is cut, sorted into a category and written into the document.
#![no_main]

use fastrnns_rs_fuzz::names;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|name: &str| names::check(name));
