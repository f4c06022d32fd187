//! How sure a median or a mean is.

pub mod bootstrap;
mod mean;
mod median;
mod method;
mod position;
mod process;
mod rank;

pub use mean::{MeanInterval, mean_ci};
pub use median::{MedianInterval, median_ci};
pub use method::IntervalMethod;
pub(crate) use process::{LogMedians, half_width};
pub use process::{ProcessInterval, process_ci};
pub use rank::median_rank_interval;
