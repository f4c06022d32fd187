//! Where iteration times settle.

use pyo3::prelude::*;

use crate::python::convert::{Floats, Processes};
use crate::python::interrupt::interruptibly;
use crate::stats::series::{self, SteadyOptions};

/// Finds where the iteration times of one process settle.
///
/// The classes are those of Barrett, Bolz-Tereick, Killick, Mount and Tratt, *Virtual Machine Warmup Blows Hot and Cold*
/// (2017):
///
/// - `flat`: steady from the first iteration on. One that is slow alone at the very start, the first call, does not count:
///   then `steady_from` is 1.
/// - `warmup`: slower before it was steady.
/// - `slowdown`: faster before it was steady, as when a processor's clock is throttled; also if something slow came first.
/// - `no_steady_state`: less than `least_share` of the iterations are at the last level, or that still moves.
/// - `too_few`: fewer than 10 iterations, of which nothing is said.
///
/// How:
///
/// 1. Logarithms of the times; of more than 2000, of the medians of equal blocks.
/// 2. A point farther from the median of the 21 around it than 7.4 median distances (5 standard deviations of normal samples)
///    and than the tolerance takes that median's place, unless more than 10 % of the points would: those are a mode.
/// 3. Segments by `changepoints` (`mean_variance`, `added_variance` 1e-6, so that noise below 0.1 % is none, and `optimal`).
/// 4. From the last segment backwards, those within the tolerance of it are the steady part, and those within four standard
///    errors, for the last one's noise and the autocorrelation of neighbours. Others are passed over as interruptions while
///    they hold 5 % of the points at most, at the very end too.
/// 5. From its beginning is cut off what is slower than the rest by the tolerance and 4.5 standard errors.
/// 6. It still moves if a line through the means of ten parts of it rises or falls by the tolerance with a t-value above
///    4.501 (0.2 % with 8 degrees of freedom), or if one line explains it and the level before it as well as two levels.
///
/// Of 500 iterations with 3 % of noise that resembles its neighbours a little (AR(.2)), a step of 5 % after 100 is found in
/// more than 99 % of processes, an exponential settling within 75 iterations from 10 % in as many, from 5 % in half of
/// them. Noise with an autocorrelation of 0.7 is called flat in more than 99 %; with one of 0.9 in 88 %.
///
/// Args:
///     samples: The duration of each iteration in order, one dimension, any unit, above 0. A contiguous numpy array of
///         float64 is read in place and must not be written to meanwhile; anything else is copied.
///     tolerance: Levels within this ratio of the last one are the same: 0.01 for 1 %. Between 0 and 1, both excluded.
///     least_share: The least share of the iterations that must be steady, above 0 and at most 1.
///     penalty: What one more segment costs, 0 or more; 15 ln of the number of points by default.
///
/// Returns:
///     The class, and where the steady part begins.
///
/// Raises:
///     ValueError: No samples; a time that is not above 0, NaN or infinite, named by position; an option out of its range.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, tolerance = 0.01, least_share = 0.25, penalty = None))]
pub(in crate::python) fn steady_state(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    tolerance: f64,
    least_share: f64,
    penalty: Option<f64>,
) -> PyResult<series::SteadyState> {
    let samples = Floats::read("samples", samples)?;
    let samples = samples.as_slice()?;
    let options = SteadyOptions { tolerance, least_share, penalty };
    interruptibly(py, |interrupted| series::steady_state(samples, &options, interrupted))
}

/// Finds whether the processes of a benchmark settle, and all in the same way.
///
/// Each process is classified as `steady_state` does it; processes of different classes are `inconsistent` (Barrett et al.,
/// *Virtual Machine Warmup Blows Hot and Cold*, 2017).
///
/// Args:
///     processes: The durations of each process's iterations, in order: one sequence a process, any unit, above 0. Numbers
///         alone are the iterations of one process.
///     tolerance: Levels within this ratio of the last one are the same. Between 0 and 1, both excluded.
///     least_share: The least share of a process's iterations that must be steady, above 0 and at most 1.
///     penalty: What one more segment costs, 0 or more; 15 ln of the number of points by default.
///
/// Returns:
///     The class of all, and what was found of each.
///
/// Raises:
///     ValueError: No processes; no samples of one; a time that is not above 0, NaN or infinite, named by process and
///         position; an option out of its range.
///     TypeError: Not sequences of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (processes, *, tolerance = 0.01, least_share = 0.25, penalty = None))]
pub(in crate::python) fn classify_warmup(
    py: Python<'_>,
    processes: &Bound<'_, PyAny>,
    tolerance: f64,
    least_share: f64,
    penalty: Option<f64>,
) -> PyResult<series::Warmup> {
    let processes = Processes::read("processes", processes)?;
    let processes = processes.samples()?;
    let options = SteadyOptions { tolerance, least_share, penalty };
    interruptibly(py, |interrupted| series::classify_warmup(&processes, &options, interrupted))
}
