//! One sample, a start and a stop, against the two clock reads that it cannot do without.

#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::hint::black_box;
use std::time::Instant;

use fastrnns_rs::stats::describe::summarize;
use fastrnns_rs::timing::{Clock, Recorder};

/// Twice as many samples as a loop is likely to need would not stay in the cache, and the loop's own do.
const SAMPLES: usize = 10_000;
const ROUNDS: usize = 401;

fn main() {
    let clock = Clock::start();
    let mut found = [const { Vec::new() }; 3];
    // In turns, so that what the machine does besides meets each alike.
    for _ in 0..ROUNDS {
        found[0].push(per_sample(|| (black_box(clock.ticks()), black_box(clock.ticks()))));
        found[1].push(per_sample(|| (black_box(Instant::now()), black_box(Instant::now()))));
        let recorder = Recorder::new(SAMPLES, 2).expect("a small buffer");
        found[2].push(per_sample(|| (recorder.mark(), recorder.mark())));
        black_box(recorder.iterations());
    }
    let medians = found.map(|times| summarize(&times, 0.95, &|| false).expect("finite times").median);
    let names =
        ["two reads of the tick counter (the floor)", "two reads of std::time::Instant", "two marks of the recorder"];
    for (name, median) in names.iter().zip(medians) {
        println!("{name}: {median:.1} ns, {:.2}x", median / medians[0]);
    }
}

/// Nanoseconds that one call takes, the mean of a round.
fn per_sample<T>(mut call: impl FnMut() -> T) -> f64 {
    let began = Instant::now();
    for _ in 0..SAMPLES {
        black_box(call());
    }
    began.elapsed().as_nanos() as f64 / SAMPLES as f64
}
