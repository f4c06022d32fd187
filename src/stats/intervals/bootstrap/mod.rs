//! Intervals by resampling: the variation of a statistic if the samples were drawn again.
//!
//! - [`bootstrap_ci`] resamples the samples of one process, [`hierarchical_ci`] processes and then their samples.
//! - A [`Resampling`] says how often, from which seed and on how many threads. Resamples are dealt into jobs that do not depend
//!   on the threads, each with random positions of its own, so that the same seed gives the same bytes on any number of them.
//! - `mean` and `median` are the statistics of one resample, `bias` the levels of `BCa`, `exact` the distribution of the resampled
//!   median without resampling, `block` and `block_length` keep neighbours together.

mod bias;
mod block;
mod block_length;
mod exact;
mod hierarchical;
mod interval;
mod jobs;
mod limits;
mod mean;
mod median;
mod positions;
mod request;
mod resample;

pub use block_length::automatic_block_length;
pub use hierarchical::hierarchical_ci;
pub use interval::bootstrap_ci;
pub use jobs::Resampling;
pub use request::{BootstrapInterval, Method, Request};

pub use crate::stats::samples::Statistic;
