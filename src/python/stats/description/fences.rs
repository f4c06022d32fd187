//! Outliers.

use pyo3::prelude::*;

use crate::python::convert::{Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::describe;

/// Sorts samples into Tukey's classes, and says whether outliers come alone or in runs.
///
/// Outliers are what lies beyond fences 1.5 interquartile ranges from the quartiles, severe ones beyond 3 (Tukey,
/// *Exploratory Data Analysis*, 1977); quartiles interpolate linearly between order statistics, as `summarize` has them. A
/// run of neighbouring outliers has another cause than single ones: a processor that throttles, another process. Nothing is
/// deleted, and nothing should be.
///
/// Fewer than four samples have no outliers; nor have samples that are all the same. Where only the quartiles are the same,
/// as with a coarse clock, every other sample is severe. A fence that a float cannot hold is the largest float.
///
/// Args:
///     samples: One dimension, any unit, in the order of their measurement; read as by `summarize`.
///
/// Returns:
///     How many samples there are in each class, the fences, and the runs.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples))]
pub(in crate::python) fn outliers(py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<describe::Outliers> {
    let samples = Samples::read("samples", samples)?;
    with_slice!(&samples, slice => {
        interruptibly(py, |interrupted| describe::outliers(slice, interrupted))
    })
}
