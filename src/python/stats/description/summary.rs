//! The description of one set of samples.

use pyo3::prelude::*;

use crate::python::convert::{Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::describe;

/// Describes samples.
///
/// The interval of the median is the narrowest symmetric pair of order statistics that holds it with at least
/// `confidence_level`, whatever the distribution, if the samples are independent (David and Nagaraja, *Order Statistics*,
/// 3rd ed., section 7.1). Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan, *Sample
/// Quantiles in Statistical Packages*, 1996; numpy's default).
///
/// Args:
///     samples: One dimension, any unit. A contiguous numpy array of float64 or int64 is read in place and must not be
///         written to meanwhile; anything else is copied. Integers beyond 2**53 are rounded to the nearest float64.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The description, in the unit of the samples.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; a level outside (0, 1);
///         values so far apart that their variance overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, confidence_level = 0.95))]
pub(in crate::python) fn summarize(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<describe::Summary> {
    let samples = Samples::read("samples", samples)?;
    with_slice!(&samples, slice => {
        interruptibly(py, |interrupted| describe::summarize(slice, confidence_level, interrupted))
    })
}
