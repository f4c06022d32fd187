//! Where a series changes.

use pyo3::prelude::*;

use crate::error::Error;
use crate::python::convert::{Floats, whole_or};
use crate::python::interrupt::interruptibly;
use crate::stats::series::{self, ChangePointOptions, Cost};

/// Finds where a series changes: the partition into segments that costs least, by PELT.
///
/// PELT is Killick, Fearnhead and Eckley, *Optimal Detection of Changepoints with a Linear Computational Cost* (2012). The
/// costs of a segment are those of `ruptures`:
///
/// - `mean` (`CostL2`): the squared deviations from the segment's mean, in the unit of the samples squared.
/// - `mean_variance` (`CostNormal`): n ln(variance + added_variance), n being the segment's length and the variance having
///   the divisor n. `added_variance` is `ruptures`' small diagonal: 1e-6 there with `add_small_diag=True`, its default, and 0
///   without. It is what a constant segment has left; let it be small against the square of the noise, or rescale the samples
///   or take their logarithms, since noise far below 0.001 units is not seen with the default. With 0 a constant segment
///   counts as one with the smallest normal float64 as its variance.
///
/// Every segment's cost is computed from its own values, so that samples that are large and close together, or stand beside
/// an outlier, keep their digits. The time grows with the square of the number of samples where nothing changes (seconds for
/// 1e5), and with the number itself where changes are frequent.
///
/// Args:
///     samples: One dimension, any unit, in the order of measurement. A contiguous numpy array of float64 is read in place
///         and must not be written to meanwhile; anything else is copied.
///     cost: `mean` or `mean_variance`.
///     penalty: What one more segment costs, in the unit of the cost, 0 or more. By default 15 ln n for `mean_variance`; for
///         `mean` 2 s**2 ln n (Yao, *Estimating the number of change-points via Schwarz' criterion*, 1988), where s is the
///         noise as the median size of the differences of neighbours shows it (their root mean square where more than half
///         of them are 0). Samples that resemble their neighbours without a change need more.
///     min_size: The fewest samples of a segment, 1 or more; `mean_variance` takes 1 as 2.
///     jump: Segments begin at multiples of this only, which takes less time by its square.
///     added_variance: In the unit of the samples squared, 0 or more; for `mean_variance` only.
///     optimal: False gives the segments that `ruptures.Pelt` gives. That drops a place as soon as it is too dear, although
///         only `min_size` samples later another can take over, and so may miss the cheapest partition if `min_size` is 2 or
///         more: seldom at penalties of a few ln n, often at small ones. True drops it when that is safe.
///
/// Returns:
///     The segments.
///
/// Raises:
///     ValueError: Fewer than `min_size` samples; a NaN or an infinity, named by position; an option out of its range;
///         samples so far apart that their variance overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (
    samples, *, cost = "mean_variance", penalty = None, min_size = None, jump = None, added_variance = 1e-6,
    optimal = false
), text_signature = "(samples, *, cost='mean_variance', penalty=None, min_size=2, jump=1, added_variance=1e-06, \
    optimal=False)")]
#[allow(clippy::too_many_arguments, reason = "the keyword arguments of Python")]
pub(in crate::python) fn changepoints(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    cost: &str,
    penalty: Option<f64>,
    min_size: Option<&Bound<'_, PyAny>>,
    jump: Option<&Bound<'_, PyAny>>,
    added_variance: f64,
    optimal: bool,
) -> PyResult<series::ChangePoints> {
    let cost = match cost {
        "mean" => Cost::Mean,
        "mean_variance" => Cost::MeanVariance { added_variance },
        _ => return Err(Error::unknown_name("cost", cost, "mean, mean_variance").into()),
    };
    let samples = Floats::read("samples", samples)?;
    let samples = samples.as_slice()?;
    let (min_size, jump) = (whole_or("min_size", min_size, 2)? as usize, whole_or("jump", jump, 1)? as usize);
    let options = ChangePointOptions { cost, penalty, min_size, jump, optimal };
    interruptibly(py, |interrupted| series::changepoints(samples, &options, interrupted))
}
