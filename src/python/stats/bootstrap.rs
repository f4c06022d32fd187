//! Intervals by resampling.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Processes, Rows, floats, threads, whole, whole_or};
use crate::python::interrupt::interruptibly;
use crate::stats::intervals::bootstrap::{self, Method, Request, Resampling, Statistic};

/// Computes the confidence interval of a mean or a median by resampling.
///
/// Methods:
///
/// - `percentile`: quantiles of the statistics of resamples. Each resample has as many samples as there are, drawn with replacement
///   (Efron, *Bootstrap methods: another look at the jackknife*, 1979).
/// - `bca`: the same at levels corrected for bias and skewness (Efron, *Better bootstrap confidence intervals*, 1987), with the
///   definitions of `scipy.stats.bootstrap`: ties with the point estimate count half in the bias correction z0, and the acceleration
///   is the jackknife's. Two cases without a number in scipy have a number here. If all resamples lie on one side of the point
///   estimate, z0 is that of half a resample on the other side. If removing a sample changes nothing, the acceleration is 0.
/// - `exact`, for the median: the limit of `percentile` for infinitely many resamples, from the distribution of the resampled median
///   (Efron, 1979, section 3; Maritz and Jarrett, *A note on estimating the variance of the sample median*, 1978). The lower end
///   is the smallest value that a resampled median does not exceed with probability (1 - confidence_level) / 2 or more; the upper
///   end is the same from above. Nothing is drawn. With an even number of samples, both middle ranks are used.
/// - `block`: percentiles of resamples of blocks of neighbours on a circle (Politis and Romano, *A circular block-resampling
///   procedure for stationary data*, 1992), for autocorrelated samples in the order of measurement. The last block is cut, so that
///   each resample has as many samples as there are.
/// - `hierarchical`: percentiles of resamples of processes, drawn with replacement, and then of the samples of each (Davison and
///   Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8). The statistic is the mean of the processes' means, or
///   the median of their medians. With few processes the interval is too narrow: prefer `process_ci` then.
///
/// All methods but `hierarchical` use the samples as they are: an interval of one process does not cover differences between
/// processes. Equal samples, or a single sample, have an interval of length 0. The same seed gives the same bytes on any number of
/// threads. Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan, 1996).
///
/// Args:
///     samples: Samples, one dimension, any unit; for `hierarchical` the samples of each process, or one number per process. A
///         contiguous numpy array of float64 is read in place and must not be written to meanwhile; anything else is copied.
///     statistic: `mean` or `median`. With an even number of samples, the median is the mean of the two in the middle.
///     method: `percentile`, `bca`, `exact`, `block` or `hierarchical`.
///     resamples: Number of resamples, from 1 to 10**8; not for `exact`.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///     seed: Seed of the random numbers, from 0 to 2**64 - 1.
///     threads: Largest number of threads, from 1 to 256; None for as many as are worth it, at most 8.
///     block_length: Number of neighbours that stay together, from 1 to the number of samples; None for the rule of Politis and
///         White (*Automatic block-length selection for the dependent bootstrap*, 2004, as corrected with Patton in 2009). For
///         `block` only. The rule is one for means; for the median it uses the series of the signs of samples around it.
///     indices: Positions of the samples of each resample, resamples by samples, to repeat another program's resamples. Then
///         `resamples` and `seed` are not used. For `percentile` and `bca` only.
///
/// Returns:
///     The interval, in the unit of the samples.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; an index is not a position; an option is out of range or
///         not one of the method; there are fewer than two processes; or a sum or a variance overflows. The message has the
///         position.
///     TypeError: If the argument does not consist of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (
    samples, *, statistic = "mean", method = "percentile", resamples = None, confidence_level = 0.95, seed = None,
    threads = None, block_length = None, indices = None
), text_signature = "(samples, *, statistic='mean', method='percentile', resamples=9999, confidence_level=0.95, seed=0, \
    threads=None, block_length=None, indices=None)")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub(in crate::python) fn bootstrap_ci(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    statistic: &str,
    method: &str,
    resamples: Option<&Bound<'_, PyAny>>,
    confidence_level: f64,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
    block_length: Option<&Bound<'_, PyAny>>,
    indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<bootstrap::BootstrapInterval> {
    guarded(|| {
        const RESAMPLES: u64 = 9999;
        let resampling = Resampling {
            resamples: whole_or("resamples", resamples, RESAMPLES)? as usize,
            seed: whole_or("seed", seed, 0)?,
            threads: self::threads(threads)?,
        };
        let request = Request {
            statistic: Statistic::named("statistic", statistic)?,
            method: Method::named("method", method)?,
            confidence_level,
            resampling,
            block_length: block_length
                .map(|given| whole("block_length", given).map(|given| given as usize))
                .transpose()?,
        };
        let indices = indices.map(|indices| Rows::read("indices", indices)).transpose()?;
        let rows = indices.as_ref().map(Rows::as_slices).transpose()?;
        if request.method == Method::Hierarchical {
            let processes = Processes::read("samples", samples)?;
            let processes = processes.given().each();
            interruptibly(py, |interrupted| {
                bootstrap::hierarchical_ci(&processes, &request, rows.as_deref(), interrupted)
            })
        } else {
            let samples = floats("samples", samples)?;
            interruptibly(py, |interrupted| bootstrap::bootstrap_ci(&samples, &request, rows.as_deref(), interrupted))
        }
    })
}
