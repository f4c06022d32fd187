//! Growth of time with size.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Processes, floats};
use crate::stats::growth as fit;

/// Fits time = a · size ^ b to the times of several sizes.
///
/// Each process counts once, by its median, and each size once, by the geometric mean of its processes. The exponent b is the slope
/// of the least-squares line through (log size, log time).
///
/// The interval is that of the slope of this line over these sizes. It does not assume that a power law holds. It assumes that
/// processes are independent, with about normal log medians, whose standard deviation may differ between sizes (Satterthwaite's
/// degrees of freedom). If a size has fewer than three processes, the interval is computed from the distances of the sizes from the
/// line, with n - 2 degrees of freedom; then it assumes that a line holds, and that all sizes have equal variance.
///
/// `lack_of_fit_p` tests if the points are further from the line than differences between processes explain. Sizes may have unequal
/// variances: each point is weighted by its own variance, and the p-value comes from a parametric bootstrap, repeatable for equal data
/// (Krishnamoorthy, Lu and Mathew, 2007), so that it is never below 0.0005. A size whose times are all equal counts as the most
/// precise of the others. For processes with little noise the p-value is small for any curve. `largest_deviation` is the size of the
/// misfit, and `local_exponents` show its place:
/// times that are flat at small sizes have exponents near 0 first.
///
/// Args:
///     sizes: Three or more different sizes above 0, in any order and unit.
///     times: One time per size, or the medians of its processes; any unit, above 0.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The exponent and its interval, and the measures of fit.
///
/// Raises:
///     ValueError: If there are fewer than three sizes; a size is given twice; the number of times differs; a size has no times; a
///         value is NaN, infinite or not above 0; the level is outside (0, 1); or the interval overflows. The message has the
///         position.
///     TypeError: If an argument is not a sequence of numbers, or of sequences. The message has the position.
#[pyfunction]
#[pyo3(signature = (sizes, times, *, confidence_level = 0.95))]
pub(in crate::python) fn growth(
    py: Python<'_>,
    sizes: &Bound<'_, PyAny>,
    times: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<fit::Growth> {
    guarded(|| {
        let (sizes, times) = (floats("sizes", sizes)?, Processes::read("times", times)?);
        let (sizes, times) = (sizes, times.given());
        Ok(py.detach(|| fit::growth(&sizes, &times.each(), confidence_level))?)
    })
}
