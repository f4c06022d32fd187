//! Several tests: false-discovery rate, and one ratio for all rows.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::floats;
use crate::python::interrupt::interruptibly;
use crate::stats::compare::hypotheses;

/// Adjusts p-values of many tests for the false-discovery rate.
///
/// It rejects as many hypotheses as possible while, on average, at most the share `rate` of the rejected ones is true
/// (Benjamini and Hochberg, *Controlling the false discovery rate*, Journal of the Royal Statistical Society B 57, 1995).
/// The tests must be independent or positively dependent.
///
/// Args:
///     p_values: P-values, one dimension, each from 0 to 1; may be empty.
///     rate: False-discovery rate, between 0 and 1, both excluded.
///
/// Returns:
///     The adjusted p-values and the rejections, in the order of the argument.
///
/// Raises:
///     ValueError: If a p-value is NaN or outside [0, 1]; there is more than one dimension; or the rate is outside (0, 1). The
///         message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (p_values, *, rate = 0.05))]
pub(in crate::python) fn benjamini_hochberg(
    py: Python<'_>,
    p_values: &Bound<'_, PyAny>,
    rate: f64,
) -> PyResult<hypotheses::BenjaminiHochberg> {
    guarded(|| {
        let p_values = floats("p_values", p_values)?;
        interruptibly(py, |interrupted| hypotheses::benjamini_hochberg(&p_values, rate, interrupted))
    })
}

/// Computes the geometric mean of ratios, one number for a whole table.
///
/// It is the only mean that does not depend on the side to which ratios are taken (Fleming and Wallace, *How not to lie with
/// statistics*, Communications of the ACM 29, 1986). The interval is Student's t on the logarithms, and includes the differences
/// between rows.
///
/// Args:
///     ratios: Ratios above 0, one dimension.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The mean and its interval, without a unit.
///
/// Raises:
///     ValueError: If there are no ratios; a ratio is NaN, infinite or not above 0; there is more than one dimension; the level is
///         outside (0, 1); or the interval overflows. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (ratios, *, confidence_level = 0.95))]
pub(in crate::python) fn geometric_mean_ratio(
    py: Python<'_>,
    ratios: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<hypotheses::GeometricMean> {
    guarded(|| {
        let ratios = floats("ratios", ratios)?;
        interruptibly(py, |interrupted| hypotheses::geometric_mean_ratio(&ratios, confidence_level, interrupted))
    })
}
