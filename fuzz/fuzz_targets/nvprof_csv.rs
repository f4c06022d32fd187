//! Tables that nvprof printed, and text of no format.
#![no_main]

mod changes;
mod line_changes;

use fastrnns_rs_fuzz::nvprof_csv;
use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus { if nvprof_csv::check(input) { Corpus::Keep } else { Corpus::Reject } });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    changes::mutate(data, size, max_size, seed, line_changes::changed)
});

fuzz_crossover!(|text: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    changes::cross(text, other, out, seed, line_changes::crossed)
});
