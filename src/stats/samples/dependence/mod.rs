//! Autocorrelation of samples of one process, and their effective sample size.
//!
//! Lags are computed as far as they are needed: a few directly, many by Fourier transforms of overlapping blocks, so that
//! memory stays bounded whatever the number of samples.

mod autocorrelation;
mod centred;
mod effective;
mod lags;
mod ordinal;
mod time;

pub use autocorrelation::autocorrelation;
pub use effective::{EffectiveSize, effective_sample_size};
pub use ordinal::{median_autocorrelation_time, octile_ranks};
