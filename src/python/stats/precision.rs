//! Whether enough processes have run.

use pyo3::prelude::*;

use super::intervals::medians;
use crate::guard::guarded;
use crate::python::convert::whole_or;
use crate::python::interrupt::interruptibly;
use crate::stats::compare::decisions;

/// Whether enough processes have run for `process_ci` to be as narrow as wanted.
///
/// For a loop that starts another process until this says so. What is looked at is the half width of the interval alone,
/// never whether anything is significant, which would turn noise into findings. Stopping as soon as the half width fits
/// would favour spreads that look small by chance: with 5 to 30 processes, intervals of 95 % then cover only 92 %. So the
/// first number of processes n whose half width h fits, from `minimum` on, is confirmed by 2 + ceil(7 * log(1 + h) / log(1 +
/// target)) further ones, and the half width must fit at the end as well. That a fixed number of further observations restores the
/// coverage is due to Simons (*On the cost of not knowing the variance when making a fixed-width confidence interval for
/// the mean*, Annals of Mathematical Statistics 39, 1968); that it shrinks with h, and its size, come from simulation, in
/// which coverage then stays above 94 %, where the logarithms of process medians are normal.
///
/// Args:
///     processes: One number above 0 for each process, or the samples of each process, in the order in which they ran; any
///         unit.
///     target: The half width wanted, relative to the estimate: 0.01 is 1 %.
///     confidence_level: Of the interval; between 0 and 1, both excluded.
///     minimum: The least number of processes that is looked at, 3 or more.
///
/// Returns:
///     The half width and whether the loop may end, with the reason.
///
/// Raises:
///     ValueError: No processes, or one without samples; a NaN or an infinity, named by position; a median that is not above
///         0; a target that is not above 0; a level outside (0, 1); a minimum below 3; medians so far apart that the half
///         width overflows.
///     TypeError: Not a sequence of numbers, or of such; the message names the position.
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
