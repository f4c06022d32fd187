//! Two means.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::floats;
use crate::stats::compare::hypotheses;

/// Compares the means of two sides, whose spreads and numbers may differ.
///
/// Welch's t with Satterthwaite's degrees of freedom (Welch, *The generalization of "Student's" problem when several
/// different population variances are involved*, Biometrika 34, 1947). Of samples of one process it knows only that
/// process: `compare_samples` is for benchmarks.
///
/// Args:
///     baseline: One dimension, any unit; two samples at least.
///     candidate: In the same unit; two samples at least.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     Difference candidate - baseline, its interval and the two-sided p-value. Of two constant sides nothing is left to
///     chance as far as the samples tell: the interval has no width, and the p-value is 1 where they are equal, 0 where not.
///
/// Raises:
///     ValueError: Fewer than two samples on a side; a NaN or an infinity, named by position; more than one dimension; a
///         level outside (0, 1); sides so far apart, or an interval so wide, that it overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (baseline, candidate, *, confidence_level = 0.95))]
pub(in crate::python) fn welch(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<hypotheses::Welch> {
    guarded(|| {
        let (baseline, candidate) = (floats("baseline", baseline)?, floats("candidate", candidate)?);
        Ok(py.detach(|| hypotheses::welch(&baseline, &candidate, confidence_level))?)
    })
}
