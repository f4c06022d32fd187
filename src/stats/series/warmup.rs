//! Warmup of the processes of a benchmark.

use super::steady_state::{Classification, SteadyOptions, SteadyState, steady_state};
use crate::error::{Error, Result};
use crate::memory;
use crate::results::result;

result! {
    /// Result of `classify_warmup`.
    pub struct Warmup {
        /// The class of every process, or `inconsistent`.
        pub classification: String,
        /// The class of each process.
        pub classifications: Vec<Classification>,
        /// From which iteration on every process is steady, counted from 0: the warm-up to leave out; None if a process is
        /// nowhere steady.
        pub steady_from: Option<usize>,
        /// Result of each process.
        pub processes: Vec<SteadyState>,
    }
}

/// Finds the steady state of each process, and checks that the classes of all processes agree.
///
/// # Errors
/// No processes; those of [`steady_state`], with the process named by its position.
pub fn classify_warmup(
    processes: &[&[f64]],
    options: &SteadyOptions,
    interrupted: &dyn Fn() -> bool,
) -> Result<Warmup> {
    const ARGUMENT: &str = "processes";
    options.checked()?;
    let one = |(process, samples): (usize, &&[f64])| {
        steady_state(samples, options, interrupted).map_err(|error| error.in_process(ARGUMENT, process))
    };
    let processes: Vec<SteadyState> = processes.iter().enumerate().map(one).collect::<Result<_>>()?;
    let classifications: Vec<Classification> =
        memory::collected(processes.iter().map(|process| process.classification));
    let first = classifications.first().ok_or(Error::Empty { argument: ARGUMENT })?;
    let same = classifications.iter().all(|other| other == first);

    let steady_from: Option<Vec<usize>> = processes.iter().map(|process| process.steady_from).collect();
    let steady_from = steady_from.and_then(|each| each.into_iter().max());
    let classification = if same { first.name() } else { "inconsistent" }.to_owned();
    Ok(Warmup { classification, classifications, steady_from, processes })
}
