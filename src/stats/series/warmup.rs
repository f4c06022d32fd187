//! Whether the processes of a benchmark settle, and all of them in the same way.

use super::steady_state::{Classification, SteadyOptions, SteadyState, steady_state};
use crate::error::{Error, Result};

/// What [`classify_warmup`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Warmup {
    /// The processes' classification; `None` if they differ.
    pub classification: Option<Classification>,
    /// Each process on its own.
    pub processes: Vec<SteadyState>,
    /// From where on every process is steady; `None` if one is nowhere.
    pub steady_from: Option<usize>,
}

impl Warmup {
    /// The name of the classification that documents carry.
    pub fn name(&self) -> &'static str {
        self.classification.map_or("inconsistent", Classification::name)
    }
}

/// Where the iteration times of each process settle, and whether all do so in the same way.
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
        steady_state(samples, options, interrupted).map_err(|error| match error {
            Error::Interrupted => error,
            error => Error::InProcess { argument: ARGUMENT, process, error: Box::new(error) },
        })
    };
    let processes: Vec<SteadyState> = processes.iter().enumerate().map(one).collect::<Result<_>>()?;
    let first = processes.first().ok_or(Error::Empty { argument: ARGUMENT })?.classification;
    let same = processes.iter().all(|process| process.classification == first);

    let steady_from: Option<Vec<usize>> = processes.iter().map(|process| process.steady_from).collect();
    let steady_from = steady_from.and_then(|each| each.into_iter().max());
    Ok(Warmup { classification: same.then_some(first), processes, steady_from })
}
