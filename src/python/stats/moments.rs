//! Mean, variance and extremes.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::results::result;
use crate::stats::samples;

/// Computes mean, variance and extremes of samples in one pass.
///
/// Blocks that fit into a cache are read for their mean, extremes and squared deviations in turn, and merged by the pairwise
/// update of Chan, Golub and LeVeque (*Algorithms for Computing the Sample Variance: Analysis and Recommendations*, The American
/// Statistician 37(3), 1983). The result is as exact as that of two passes, and has the same bits on every processor. More than
/// four million samples are read on several threads. Deviations below some 1e-162 have squares that are too small for a float,
/// and count as 0, as in the other functions that use a variance.
///
/// Args:
///     samples: Samples, one dimension, any unit. A contiguous numpy array of float64 or int64 is read in place and must not be
///         written to meanwhile; anything else is copied. Integers beyond 2**53 are rounded to the nearest float64.
///
/// Returns:
///     The moments, in the unit of the samples; the variance in its square.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; or the variance
///         overflows. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
pub(in crate::python) fn moments(py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<Moments> {
    guarded(|| {
        let samples = Samples::read_once("samples", samples)?;
        let found =
            with_slice!(&samples, slice => interruptibly(py, |interrupted| samples::moments(slice, interrupted)))?;
        Ok(Moments {
            count: found.count,
            mean: found.mean,
            variance: found.variance(),
            stddev: found.stddev(),
            min: found.min,
            max: found.max,
        })
    })
}

result! {
    /// Result of `moments`.
    pub(in crate::python) struct Moments {
        /// Number of samples.
        pub(in crate::python) count: usize,
        /// Arithmetic mean, in the unit of the samples.
        pub(in crate::python) mean: f64,
        /// Variance with the divisor n - 1, in the square of that unit; None for one sample.
        pub(in crate::python) variance: Option<f64>,
        /// Standard deviation, the root of the variance, in the unit of the samples; None for one sample.
        pub(in crate::python) stddev: Option<f64>,
        /// Smallest sample.
        pub(in crate::python) min: f64,
        /// Largest sample.
        pub(in crate::python) max: f64,
    }
}
