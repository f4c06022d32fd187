//! Delays between launches and kernels, in a summary.
#![allow(missing_docs, reason = "fields are called what they are, with their units")]

use serde::{Deserialize, Serialize};

/// Delays between kernels and the calls that launched them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Launches {
    pub matched_count: u64,
    pub unmatched_kernel_count: u64,
    /// From the start of the call to the start of the kernel.
    pub latency_median_ns: Option<f64>,
    pub latency_p95_ns: Option<f64>,
    /// From the end of the call to the start of the kernel, 0 if that was earlier.
    pub queue_median_ns: Option<f64>,
    pub queue_p95_ns: Option<f64>,
    /// Only if data of plots is requested, as for the next one.
    pub latency_histogram: Option<Histogram>,
    pub queue_histogram: Option<Histogram>,
}

/// Number of times in bins, whose width grows with the time: eight bins to each power of two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Number of times below 0.
    pub negative_count: u64,
    /// Lower bound of each bin, and the upper bound of the last, which is excluded.
    pub bounds_ns: Vec<u64>,
    /// Number of times in each bin.
    pub counts: Vec<u64>,
}
