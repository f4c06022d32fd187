//! Modes.

use pyo3::prelude::*;

use crate::python::convert::Floats;
use crate::python::interrupt::interruptibly;
use crate::stats::describe;

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
    let samples = Floats::read("samples", samples)?;
    let samples = samples.as_slice()?;
    interruptibly(py, |interrupted| describe::modality(samples, tick, interrupted))
}
