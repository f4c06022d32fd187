//! Two means.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::floats;
use crate::stats::compare::hypotheses;

/// Compares the means of baseline and candidate, whose variances may differ.
///
/// The method is Welch's t with Satterthwaite's degrees of freedom (Welch, *The generalization of "Student's" problem when
/// several different population variances are involved*, Biometrika 34, 1947). Samples of one process describe only that
/// process: use `compare_samples` for benchmarks.
///
/// Args:
///     baseline: Samples, one dimension, any unit; at least two.
///     candidate: Samples in the same unit; at least two.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The difference candidate - baseline, its interval and the two-sided p-value. If both sides are constant, the interval has
///     no width, and the p-value is 1 if they are equal, else 0.
///
/// Raises:
///     ValueError: If a side has fewer than two samples; a sample is NaN or infinite; there is more than one dimension; the level
///         is outside (0, 1); or the difference or its interval overflows. The message has the position.
///     TypeError: If a side is not a sequence of numbers. The message has the position.
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
