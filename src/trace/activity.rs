//! Parts of a summary that plots draw: activity over time and nested ranges.
#![allow(missing_docs, reason = "fields are called what they are, with their units")]

use serde::{Deserialize, Serialize};

/// Activity of a device over time, in bins of equal length from its first activity on. Bins that no capture covers are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Start of the first bin.
    pub start_ns: i64,
    /// Length of each bin; the last ends with the device's span or after it.
    pub bin_ns: u64,
    /// Busy time in each bin, which adds up to the busy time of the device.
    pub busy_ns: Vec<u64>,
    /// Time of kernels by category, in the order of the budget.
    pub kernels: Vec<ActivityRow>,
    /// Time of copies and sets by kind, in the order of the budget.
    pub copies: Vec<ActivityRow>,
}

/// Time of a category in each bin, which adds up to the time of its row of the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityRow {
    pub name: String,
    pub bins_ns: Vec<u64>,
}

/// Ranges of a name, within those that enclose them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedRange {
    /// Common name; `None` for the smallest ranges together.
    pub name: Option<String>,
    pub domain: Option<String>,
    /// Place of the enclosing ranges in the list, in front of this one.
    pub parent: Option<u32>,
    /// Number of ranges. Those of a process count once for each path on which they are.
    pub count: u64,
    /// GPU time of activities launched in the ranges.
    pub gpu_inclusive_ns: u64,
    /// GPU time of activities launched outside the ranges that they enclose.
    pub gpu_exclusive_ns: u64,
    /// Number of kernels launched in the ranges.
    pub kernel_count: u64,
    /// Number of rows that were added up into one without a name.
    pub folded_count: u64,
}
