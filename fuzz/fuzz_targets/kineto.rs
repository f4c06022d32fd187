//! A trace in JSON: as it is, compressed, a few bytes at once, and in pieces.
#![no_main]

mod changes;
mod json_changes;
mod json_notations;

use fastrnns_rs_fuzz::kineto;
use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if kineto::check(input) { Corpus::Keep } else { Corpus::Reject } });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    changes::mutate(data, size, max_size, seed, json_changes::changed)
});

fuzz_crossover!(|text: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    changes::cross(text, other, out, seed, json_changes::crossed)
});
