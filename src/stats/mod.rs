//! Statistics of samples: description, quantiles and the interval of a median.

mod ci;
mod moments;
mod order;
mod sample;
mod summary;

pub use ci::median_rank_interval;
pub use order::order_statistics;
pub use sample::Sample;
pub use summary::{CiMethod, Interval, Summary, summarize};
