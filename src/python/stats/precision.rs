//! Stop rule for benchmarks: precision of the interval.

use pyo3::prelude::*;

use super::intervals::medians;
use crate::guard::guarded;
use crate::python::convert::whole_or;
use crate::python::interrupt::interruptibly;
use crate::stats::compare::decisions;

/// Decides if enough processes have run for a target precision of `process_ci`.
///
/// It is the stop rule of a loop that starts processes. Only the half width of the interval counts, never its significance, which
/// would turn noise into findings. To stop as soon as the half width fits would prefer standard deviations that are small by
/// chance: with 5 to 30 processes, intervals of 95 % then cover only 92 %. So the first number of processes n whose half width h
/// fits, from `minimum` on, is confirmed by 2 + ceil(7 * log(1 + h) / log(1 + target)) further processes, and the half width must
/// fit at the end as well.
///
/// A fixed number of further observations restores the coverage (Simons, *On the cost of not knowing the variance when making a
/// fixed-width confidence interval for the mean*, Annals of Mathematical Statistics 39, 1968). Its size, and its decrease with h,
/// are from simulation: the coverage is above 94 % if the logarithms of process medians are normal.
///
/// Args:
///     processes: One number above 0 per process, or the samples of each process, in the order in which they ran; any unit.
///     target: Half width relative to the point estimate: 0.01 is 1 %.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///     minimum: Least number of processes, 3 or more.
///
/// Returns:
///     The half width and the decision, with the reason.
///
/// Raises:
///     ValueError: If there are no processes; a process has no samples; a value is NaN or infinite; a median or the target is not
///         above 0; the level is outside (0, 1); the minimum is below 3; or the half width overflows. The message has the
///         position.
///     TypeError: If the argument is not a sequence of numbers, or of sequences. The message has the position.
#[pyfunction]
#[pyo3(signature = (processes, *, target = 0.01, confidence_level = 0.95, minimum = None), text_signature = "(processes, *, target=0.01, confidence_level=0.95, minimum=5)")]
pub(in crate::python) fn precision_reached(
    py: Python<'_>,
    processes: &Bound<'_, PyAny>,
    target: f64,
    confidence_level: f64,
    minimum: Option<&Bound<'_, PyAny>>,
) -> PyResult<decisions::Precision> {
    guarded(|| {
        let medians = medians(py, processes)?;
        let minimum = whole_or("minimum", minimum, 5)? as usize;
        interruptibly(py, |interrupted| {
            decisions::precision_reached(&medians, target, confidence_level, minimum, interrupted)
        })
    })
}
