//! What samples look like.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use crate::guard::guarded;
use crate::python::convert::{Samples, floats, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::describe::{self, QuantileMethod};

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
    guarded(|| {
        let samples = Samples::read("samples", samples)?;
        with_slice!(&samples, slice => {
            interruptibly(py, |interrupted| describe::outliers(slice, interrupted))
        })
    })
}

/// Tests whether samples have more than one mode, and finds their modes.
///
/// The test is the dip test of Hartigan and Hartigan, *The Dip Test of Unimodality* (The Annals of Statistics 13, 1985): the
/// dip is the largest distance between the distribution function of the samples and the nearest one with a single mode, its
/// p-value the share of uniform samples with a larger one. p-values are interpolated in a table of 100 000 simulated samples
/// of each size. Where it is below 0.05 there are several modes: the fewest that any distribution has whose distance from
/// the samples chance explains, found by the taut string of Davies and Kovac, *Local Extremes, Runs, Strings and
/// Multiresolution* (The Annals of Statistics 29, 2001). Where chance explains the dip, a kernel density estimate is looked
/// at: a valley deeper than one sample in twenty with one mode has, long tails included, parts two modes. That sees modes
/// that lie apart in 50 samples, where the dip takes some hundred; of fewer than 20 samples the dip alone decides. Its limits
/// are our own, from simulation: two modes are claimed for at most about 5 % of normal, exponential and lognormal samples,
/// and for up to 10 % with a tail like Pareto's of shape 2; of uniform samples, the limit of the dip test, for 5 to 7 %. The mvalue is that of Gregg, *Frequency Trails: Modes and Modality* (2013), from a histogram by the rule of
/// Freedman and Diaconis; above 2.4 he suspects two modes.
///
/// Samples of a clock that ticks share values, and each tick would be a mode. They are spread evenly over their tick before
/// the test. Without `tick` that is the distance to the nearest other value that a quarter of the samples which share theirs
/// have at most; so samples of two values only count as one mode, unless `tick` says that the two are far apart. Without
/// `tick`, samples whose range is at most 1e-12 of the largest magnitude among them count as constant, with one mode and the
/// p-value 1: the difference of times that are some thousand times as large is rounded by as much.
///
/// Args:
///     samples: One dimension, any unit; read as by `summarize`.
///     tick: The resolution of the clock, in the unit of the samples. 0 takes the samples as exact.
///
/// Returns:
///     The dip, its p-value, the mvalue and the modes.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; a tick that is negative or
///         not finite.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, tick = None))]
pub(in crate::python) fn modality(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    tick: Option<f64>,
) -> PyResult<describe::Modality> {
    guarded(|| {
        let samples = floats("samples", samples)?;
        interruptibly(py, |interrupted| describe::modality(&samples, tick, interrupted))
    })
}

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
    guarded(|| {
        if probabilities.is_instance_of::<PyFloat>() || probabilities.is_instance_of::<PyInt>() {
            let message = format!("probabilities is a number; pass a list, as [{}]", probabilities.str()?);
            return Err(PyTypeError::new_err(message));
        }
        let method = QuantileMethod::named("method", method)?;
        let samples = Samples::read("samples", samples)?;
        let probabilities = floats("probabilities", probabilities)?;
        with_slice!(&samples, slice => {
            interruptibly(py, |interrupted| describe::quantiles(slice, &probabilities, method, interrupted))
        })
    })
}

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
    guarded(|| {
        let samples = Samples::read("samples", samples)?;
        with_slice!(&samples, slice => {
            interruptibly(py, |interrupted| describe::summarize(slice, confidence_level, interrupted))
        })
    })
}
