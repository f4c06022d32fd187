//! Quantiles.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use crate::python::convert::{Floats, Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::describe::{self, QuantileMethod};

/// Quantiles by any of the nine definitions.
///
/// The definitions are those of Hyndman and Fan, *Sample Quantiles in Statistical Packages* (The American Statistician 50,
/// 1996), by numpy's names. Nothing is sorted: a few order statistics are picked out. Samples of any finite size are
/// allowed; the quantile between two that are further apart than the largest float is finite too.
///
/// Args:
///     samples: One dimension, any unit, read as by `summarize`.
///     probabilities: A list or 1-D array of numbers from 0 to 1, in any order. One alone goes in a list too.
///     method: `inverted_cdf`, `averaged_inverted_cdf`, `closest_observation`, `interpolated_inverted_cdf`, `hazen`,
///         `weibull`, `linear`, `median_unbiased` or `normal_unbiased`: numbers 1 to 9 of the paper.
///
/// Returns:
///     One quantile for each probability, in their order, in the unit of the samples.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, or a probability outside [0, 1], named by position; more than one
///         dimension; no such method.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, probabilities, *, method = "linear"))]
pub(in crate::python) fn quantiles(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    probabilities: &Bound<'_, PyAny>,
    method: &str,
) -> PyResult<Vec<f64>> {
    if probabilities.is_instance_of::<PyFloat>() || probabilities.is_instance_of::<PyInt>() {
        let message = format!("probabilities is a number; pass a list, as [{}]", probabilities.str()?);
        return Err(PyTypeError::new_err(message));
    }
    let method = QuantileMethod::named("method", method)?;
    let samples = Samples::read("samples", samples)?;
    let probabilities = Floats::read("probabilities", probabilities)?;
    let probabilities = probabilities.as_slice()?;
    with_slice!(&samples, slice => {
        interruptibly(py, |interrupted| describe::quantiles(slice, probabilities, method, interrupted))
    })
}
