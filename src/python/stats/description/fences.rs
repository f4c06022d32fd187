//! Outliers.

use pyo3::prelude::*;

use crate::python::convert::{Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::python::stats::result::result;
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
pub(in crate::python) fn outliers(py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<Outliers> {
    let samples = Samples::read("samples", samples)?;
    let found = with_slice!(&samples, slice => {
        interruptibly(py, |interrupted| describe::outliers(slice, interrupted))
    })?;
    Ok(found.into())
}

result! {
    /// What `outliers` returns. Fences are in the unit of the samples; a sample on a fence is within it.
    Outliers from found: describe::Outliers {
        /// How many samples.
        count: usize,
        /// How many lie below the low outer fence.
        low_severe: usize,
        /// How many lie below the low inner fence, but not the outer one.
        low_mild: usize,
        /// How many are no outliers.
        inside: usize,
        /// How many lie above the high inner fence, but not the outer one.
        high_mild: usize,
        /// How many lie above the high outer fence.
        high_severe: usize,
        /// First quartile less 3 interquartile ranges.
        low_outer_fence: f64,
        /// First quartile less 1.5 interquartile ranges.
        low_inner_fence: f64,
        /// Third quartile and 1.5 interquartile ranges.
        high_inner_fence: f64,
        /// Third quartile and 3 interquartile ranges.
        high_outer_fence: f64,
        /// Each stretch of neighbouring outliers: (position of the first, counted from 0; how many).
        runs: Vec<(usize, usize)>,
        /// How many outliers the longest run has; 0 without any.
        longest_run: usize,
    }
}
