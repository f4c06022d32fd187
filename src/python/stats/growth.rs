//! How time grows.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Processes, floats};
use crate::stats::growth as law;

/// Fits time = a · size ^ b to the times of several sizes.
///
/// Each process counts once, by its median, and each size once, by the geometric mean of its processes: the exponent b is the
/// slope of the line of least squares through (log size, log time). What it assumes: nothing of whether a power law holds, for
/// the interval is that of the slope of this line over these sizes, whether or not the points lie on it; processes are
/// independent, and their log medians about normal, with a spread that may be another at each size (Satterthwaite's degrees of
/// freedom). Where a size has fewer than three processes, the interval comes from how far the sizes lie from the line instead,
/// with n - 2 degrees of freedom; then it does assume that a line holds and that all sizes vary alike.
///
/// Whether a line holds is another question. `lack_of_fit_p` asks whether the points are further from it than processes are
/// from one another (F test); of quiet processes it is small for any curve. `largest_deviation` says how far that is, and
/// `local_exponents` where: times that are flat at small sizes have exponents near 0 first.
///
/// Args:
///     sizes: Three or more, above 0, each once, in any order and unit.
///     times: For each size one time, or the medians of its processes; any unit, above 0.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The exponent and its interval, and what speaks for and against the line.
///
/// Raises:
///     ValueError: Fewer than three sizes, one that is there twice, or another number of times; a size without times; a NaN,
///         an infinity, or what is not above 0, named by position; a level outside (0, 1); times so far apart that the
///         interval overflows.
///     TypeError: Not a sequence of numbers, or of sequences; the message names the position.
#[pyfunction]
#[pyo3(signature = (sizes, times, *, confidence_level = 0.95))]
pub(in crate::python) fn growth(
    py: Python<'_>,
    sizes: &Bound<'_, PyAny>,
    times: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<law::Growth> {
    guarded(|| {
        let (sizes, times) = (floats("sizes", sizes)?, Processes::read("times", times)?);
        let (sizes, times) = (sizes, times.given());
        Ok(py.detach(|| law::growth(&sizes, &times.each(), confidence_level))?)
    })
}
