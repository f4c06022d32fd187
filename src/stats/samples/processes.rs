//! Samples of several processes, each of which counts by its median.

use super::{Moments, finite, order_statistics};
use crate::error::Result;

/// The median of each process's samples.
///
/// # Errors
/// A process without samples, or with a NaN or an infinity, named by its position; an interruption.
pub fn process_medians(
    argument: &'static str,
    processes: &[&[f64]],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    let median_of = |(process, samples): (usize, &&[f64])| {
        median("samples", samples, interrupted).map_err(|error| error.in_process(argument, process))
    };
    processes.iter().enumerate().map(median_of).collect()
}

/// The median: of an even number of samples, the mean of the two in the middle.
///
/// # Errors
/// No samples; a NaN or an infinity; an interruption.
pub fn median(argument: &'static str, samples: &[f64], interrupted: &dyn Fn() -> bool) -> Result<f64> {
    finite(argument, samples, 1)?;
    let (below, above) = ((samples.len() - 1) / 2, samples.len() / 2);
    let (low, high) = Moments::extremes(samples);
    let middle = order_statistics(samples, std::convert::identity, (low, high), &[below, above], interrupted)?;
    Ok(middle[0].midpoint(middle[1]))
}
