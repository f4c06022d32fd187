//! Numbers as callers hold them: checked by position, summed, selected and sorted.

mod brackets;
mod check;
pub mod dependence;
pub mod distributions;
mod keys;
mod moments;
mod order;
mod processes;
pub mod random;
mod sample;
mod sorting;
mod statistic;

pub use check::{check, confidence_level, finite, positive};
pub(crate) use check::{inside_0_and_1, not_negative, probabilities};
pub(crate) use keys::{from_key, to_key};
pub use moments::{Moments, moments};
pub use order::order_statistics;
pub use processes::{median, process_medians};
pub(crate) use sample::BLOCK;
pub use sample::{Block, Sample};
pub use sorting::sorted;
pub use statistic::Statistic;
