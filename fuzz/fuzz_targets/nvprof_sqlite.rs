//! A profile of nvprof.
#![no_main]

mod changes;
mod row_changes;

use fastrnns_rs_fuzz::nvprof_sqlite;
use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if nvprof_sqlite::check(input) { Corpus::Keep } else { Corpus::Reject } });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    changes::mutate(data, size, max_size, seed, row_changes::changed)
});

fuzz_crossover!(|text: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    changes::cross(text, other, out, seed, row_changes::crossed)
});
