//! Confidence intervals of medians and means.

pub mod bootstrap;
mod mean;
mod median;
mod position;
mod process;

pub use mean::{MeanInterval, mean_ci};
pub use median::{MedianInterval, median_ci};
pub use position::median_rank_interval;
pub(crate) use process::{LogMedians, half_width};
pub use process::{ProcessInterval, process_ci};

use crate::error::words;

words! {
    /// Method of an interval.
    pub enum IntervalMethod {
        /// Two order statistics around the median, see [`median_rank_interval`].
        MedianRank = "median_rank",
        /// Interpolated order statistics of independent samples.
        HettmanspergerSheather = "hettmansperger_sheather",
        /// The same for as many samples as the dependent ones amount to.
        HettmanspergerSheatherEffective = "hettmansperger_sheather_effective",
        /// From the smallest sample to the largest, where dependent ones amount to too few for the level.
        SampleRange = "sample_range",
        /// Student's t.
        T = "t",
        /// Student's t on the logarithms of process medians.
        TLogProcessMedians = "t_log_process_medians",
    }
}
