//! The model of a summary, which is the document `fastrnns-rs/summary` too: what a field means stands in `docs/report.md`.
#![allow(missing_docs, reason = "fields are called what they are, with their units")]

use serde::Serialize;

use super::capture::{Capture, Warning};

/// Figures of a set of whole numbers. All but `count` and `total` are `None` for an empty one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: u64,
    /// `total / count`.
    pub mean: Option<f64>,
    /// The middle one, or the mean of the two.
    pub median: Option<f64>,
    /// The smallest.
    pub min: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
    /// With n − 1; `None` for fewer than two.
    pub stddev: Option<f64>,
    /// The 95th percentile, by linear interpolation of order statistics.
    pub p95: Option<f64>,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceRow {
    pub device_id: Option<i64>,
    pub process_id: Option<i64>,
    pub name: Option<String>,
    pub start_ns: i64,
    pub end_ns: i64,
    pub span_ns: u64,
    pub busy_ns: u64,
    pub idle_ns: u64,
    pub overlap_ns: u64,
    /// `busy_ns / span_ns`; `None` for a span of nothing.
    pub utilization: Option<f64>,
    pub kernel_count: u64,
    pub kernel_total_ns: u64,
}

/// The runs of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelRow {
    pub name: String,
    pub short_name: String,
    pub mangled_name: Option<String>,
    pub category: String,
    pub device_id: Option<i64>,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    pub median_ns: f64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub stddev_ns: Option<f64>,
    pub p95_ns: f64,
    /// Of the time of all kernels that are listed.
    pub kernel_time_fraction: Option<f64>,
    /// Of the span of its device.
    pub span_fraction: Option<f64>,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub registers_per_thread: Option<u32>,
    pub shared_memory_bytes: Option<u64>,
}

/// The kernels of a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CategoryRow {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
    pub kernel_time_fraction: Option<f64>,
}

/// The copies or sets of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryRow {
    pub kind: String,
    pub device_id: Option<i64>,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    pub median_ns: f64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub stddev_ns: Option<f64>,
    /// Sizes are `None` where the capture has none.
    pub total_bytes: Option<u64>,
    pub mean_bytes: Option<f64>,
    pub median_bytes: Option<f64>,
    pub min_bytes: Option<u64>,
    pub max_bytes: Option<u64>,
    pub stddev_bytes: Option<f64>,
    /// `total_bytes / total_ns`.
    pub bandwidth_gb_per_s: Option<f64>,
}

/// A queue of a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamRow {
    pub device_id: Option<i64>,
    pub stream_id: Option<i64>,
    pub kernel_count: u64,
    /// By the union of its operations.
    pub busy_ns: u64,
    /// The sum of its operations.
    pub total_ns: u64,
}

/// The calls of a function of the device's interface.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApiRow {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    pub median_ns: f64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub stddev_ns: Option<f64>,
}

/// A category under Inductor's name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InductorCategory {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
    pub kernels: Vec<InductorKernel>,
}

/// A kernel, a copy or a set of such a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InductorKernel {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
}

/// What Inductor's `wrapper_benchmark` says of a capture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inductor {
    pub wall_time_ns: f64,
    pub runs: u64,
    pub busy_fraction: f64,
    pub tabulate_line: String,
    pub categories: Vec<InductorCategory>,
}

/// Everything that a report shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub schema: &'static str,
    pub schema_version: &'static str,
    pub warnings: Vec<Warning>,
    pub captures: Vec<Capture>,
    pub devices: Vec<DeviceRow>,
    pub kernels: Vec<KernelRow>,
    pub categories: Vec<CategoryRow>,
    pub memory_operations: Vec<MemoryRow>,
    pub streams: Vec<StreamRow>,
    pub api_calls: Vec<ApiRow>,
    /// Not yet told: always `None`, as are the next three.
    pub ranges: Option<()>,
    pub iterations: Option<()>,
    pub launches: Option<()>,
    pub idle_causes: Option<()>,
    pub inductor: Option<Inductor>,
}
