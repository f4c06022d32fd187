//! Many rows at once: which to believe, and one ratio for all.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::floats;
use crate::python::interrupt::interruptibly;
use crate::stats::compare::hypotheses;

/// Says which of many tests to believe.
///
/// Rejects as many hypotheses as may be if, on average, at most `rate` of the rejected ones are to be true (Benjamini and
/// Hochberg, *Controlling the false discovery rate*, Journal of the Royal Statistical Society B 57, 1995), for tests that
/// are independent or positively dependent.
///
/// Args:
///     p_values: One dimension, each from 0 to 1; may be empty.
///     rate: The false-discovery rate to allow, between 0 and 1, both excluded.
///
/// Returns:
///     Adjusted p-values and what is rejected, in the order given.
///
/// Raises:
///     ValueError: A p-value that is NaN or outside [0, 1], named by position; more than one dimension; a rate outside
///         (0, 1).
///     TypeError: Not a sequence of numbers; the message names the position.
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

/// Takes the geometric mean of ratios: one number for a whole table.
///
/// The only mean whose answer does not depend on which side ratios are taken to (Fleming and Wallace, *How not to lie with
/// statistics*, Communications of the ACM 29, 1986). The interval is Student's t on the logarithms: it says how sure the
/// mean of such rows is, the spread between rows included.
///
/// Args:
///     ratios: One dimension, every one above 0.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The mean and its interval, without unit as the ratios are.
///
/// Raises:
///     ValueError: No ratios; one that is NaN, infinite or not above 0, named by position; more than one dimension; a level
///         outside (0, 1); an interval that overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
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
