//! The model of a summary, which is also the document `fastrnns-rs/summary`. `docs/how-to/report.md` explains the fields.
#![allow(missing_docs, reason = "fields are called what they are, with their units")]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::activity::{Activity, NestedRange};
use super::capture::{Capture, Warning, Word, word};
use super::delays::Launches;

/// Figures of a set of whole numbers. All but `count` and `total` are `None` for an empty one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// Number of values.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Division of its span.
    pub budget: Budget,
    /// Rank of its process in a distributed job, if there are several captures and one or its name records it.
    pub rank: Option<i64>,
    /// Only if data of plots is requested, and for few devices and kinds.
    pub activity: Option<Activity>,
    /// File of its capture, if there are several captures and only one of them records the device.
    pub path: Option<String>,
    /// Time in which only kernels of communication ran.
    pub exposed_communication_ns: u64,
}

/// Division of the span of a device: the times of kernels and copies, less those counted twice, are its busy time, and the
/// causes add up to its idle time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Time of kernels by category, the longest first.
    pub kernels: Vec<BudgetRow>,
    /// Time of copies and sets by kind, the longest first.
    pub copies: Vec<BudgetRow>,
    /// The sum of all durations less the busy time.
    pub counted_twice_ns: u64,
    /// By cause, the longest first.
    pub idle: Vec<BudgetRow>,
}

/// A part of a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRow {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
}

/// The runs of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    pub name: Arc<str>,
    pub short_name: Arc<str>,
    pub mangled_name: Option<Arc<str>>,
    pub category: Box<str>,
    pub device_id: Option<i64>,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    /// Median; `None` if a capture contains only totals, as for `stddev_ns` and `p95_ns`.
    pub median_ns: Option<f64>,
    pub min_ns: u64,
    pub max_ns: u64,
    pub stddev_ns: Option<f64>,
    pub p95_ns: Option<f64>,
    /// Share of the time of all listed kernels.
    pub kernel_time_fraction: Option<f64>,
    /// Share of the span of its device.
    pub span_fraction: Option<f64>,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub registers_per_thread: Option<u32>,
    pub shared_memory_bytes: Option<u64>,
    /// Its place in the list of devices, from 0; `None` where several have a part in it, or where it is not known.
    pub device: Option<u32>,
}

/// The kernels of a category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CategoryRow {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
    pub kernel_time_fraction: Option<f64>,
}

/// The copies or sets of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryRow {
    pub kind: String,
    pub device_id: Option<i64>,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    pub median_ns: Option<f64>,
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
    /// Its place in the list of devices, from 0; `None` where several have a part in it, or where it is not known.
    pub device: Option<u32>,
}

/// A queue of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamRow {
    pub device_id: Option<i64>,
    pub stream_id: Option<i64>,
    pub kernel_count: u64,
    /// By the union of its operations.
    pub busy_ns: u64,
    /// The sum of its operations.
    pub total_ns: u64,
    /// Its place in the list of devices, from 0; `None` where several have a part in it, or where it is not known.
    pub device: Option<u32>,
}

/// The calls of a function of the device's interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiRow {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    pub median_ns: Option<f64>,
    pub min_ns: u64,
    pub max_ns: u64,
    pub stddev_ns: Option<f64>,
}

/// The runs of an operator of the CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorRow {
    pub name: String,
    pub count: u64,
    /// With the operators that it called.
    pub total_ns: u64,
    /// Without the operators that it called.
    pub self_ns: u64,
    pub mean_ns: f64,
}

/// A category under Inductor's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InductorCategory {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
    pub kernels: Vec<InductorKernel>,
}

/// A kernel, a copy or a set of such a category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InductorKernel {
    pub name: String,
    pub count: u64,
    pub total_ns: u64,
}

/// Inductor's `wrapper_benchmark` of a capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inductor {
    pub wall_time_ns: f64,
    pub runs: u64,
    pub busy_fraction: f64,
    pub tabulate_line: String,
    pub categories: Vec<InductorCategory>,
}

/// GPU activities in the ranges of a name, by the calls that launched it, also where it ran after they had ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RangeRow {
    pub name: Arc<str>,
    pub domain: Option<Arc<str>>,
    /// `nvtx` or `record_function`.
    #[serde(deserialize_with = "word")]
    pub kind: Word,
    /// Runner of a range of ours, `cudnn/forward/3`, with its phase; else of the innermost of ours that is open around all of
    /// them.
    pub runner: Option<Arc<str>>,
    pub phase: Option<String>,
    pub count: u64,
    /// Total host time of closed ranges.
    pub host_total_ns: u64,
    /// Total GPU time of device operations that were launched in one of the ranges, each counted once.
    pub gpu_inclusive_ns: u64,
    /// Total GPU time of operations that were launched outside nested ranges.
    pub gpu_exclusive_ns: u64,
    pub kernel_count: u64,
    /// Total GPU time of operations that other threads of the process launched meanwhile, as autograd's do: they are in neither
    /// sum.
    pub gpu_other_threads_ns: u64,
}

/// By how much the device time of a category differs from that of the median iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub category: String,
    pub delta_ns: i64,
}

/// An iteration of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IterationRow {
    pub index: u64,
    pub runner: Option<Arc<str>>,
    pub phase: Option<String>,
    pub start_ns: i64,
    pub duration_ns: u64,
    /// Time with at least one of its operations running, on any device.
    pub gpu_busy_ns: u64,
    /// True if its time lies outside Tukey's far fences, of ten or more iterations.
    pub outlier: bool,
    /// Differences of an outlier from the others, the largest first.
    pub differences: Vec<Difference>,
    /// The length of the range.
    pub host_ns: u64,
    /// From the first start to the last end of the operations that it owns; 0 without any.
    pub gpu_ns: u64,
    /// The sum of their durations.
    pub gpu_time_ns: u64,
    /// The phases within a step of torch's profiler.
    pub parts: Vec<IterationPart>,
}

/// A phase within a step: the operations that were launched while it was open, by whichever thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IterationPart {
    pub runner: Option<Arc<str>>,
    pub phase: Option<String>,
    pub start_ns: i64,
    /// Value of an [`IterationRow`], as the next three.
    pub host_ns: u64,
    pub gpu_ns: u64,
    pub gpu_busy_ns: u64,
    pub gpu_time_ns: u64,
}

/// The iterations of one runner and phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IterationStatistics {
    pub runner: Option<Arc<str>>,
    pub phase: Option<String>,
    pub count: u64,
    pub total_ns: u64,
    pub mean_ns: f64,
    pub median_ns: f64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub stddev_ns: Option<f64>,
    pub p95_ns: f64,
    pub gpu_busy_median_ns: f64,
    pub outlier_count: u64,
    /// The key of iterations that the figures above are of: `gpu_ns` where they launched anything, else `host_ns`.
    #[serde(deserialize_with = "word")]
    pub measure: Word,
    pub host_median_ns: f64,
    pub gpu_median_ns: f64,
    pub gpu_time_median_ns: f64,
    /// The name of their ranges, where it contains neither runner nor phase: `ProfilerStep`, or the requested one.
    pub name: Option<String>,
}

/// Cause of idle time of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleRow {
    pub device_id: Option<i64>,
    #[serde(deserialize_with = "word")]
    pub cause: Word,
    pub count: u64,
    pub total_ns: u64,
    /// Its place in the list of devices, from 0; `None` where several have a part in it, or where it is not known.
    pub device: Option<u32>,
    /// For `dependency`: time directly behind an activity of the same stream.
    pub in_stream_ns: Option<u64>,
}

/// Path of cuDNN through a recurrent network: one kernel for a whole sequence, or some for each step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CudnnRnnRow {
    pub runner: Option<String>,
    pub phase: Option<String>,
    /// `persistent`, `stepwise` or `mixed`.
    #[serde(deserialize_with = "word")]
    pub path: Word,
    pub kernel_count: u64,
    pub iterations: Option<u64>,
    /// Number of kernels of recurrent networks.
    pub kernels_per_iteration: Option<f64>,
    pub kernels_per_step: Option<f64>,
    /// In words.
    pub sentence: String,
}

/// One of several files that belong together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRow {
    pub path: String,
    pub rank: Option<i64>,
    pub span_ns: u64,
    pub busy_ns: u64,
    pub kernel_count: u64,
    pub kernel_total_ns: u64,
    /// Busy time over the median of all.
    pub busy_ratio: Option<f64>,
    /// True for the most work.
    pub slowest: bool,
    /// With at least one operation other than communication, which may be waiting for other ranks.
    pub work_ns: u64,
}

/// Counter of a device while a kernel ran: a metric or an event of nvprof.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricRow {
    pub device: Arc<str>,
    pub kernel: Arc<str>,
    pub invocations: u64,
    pub name: Arc<str>,
    /// Events have none.
    pub description: Option<String>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub avg: Option<f64>,
    /// `%`, `GB/s`; `None` for a plain number.
    pub unit: Option<String>,
}

/// Everything that a report shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    #[serde(deserialize_with = "word")]
    pub schema: Word,
    #[serde(deserialize_with = "word")]
    pub schema_version: Word,
    pub warnings: Vec<Warning>,
    pub captures: Vec<Capture>,
    pub devices: Vec<DeviceRow>,
    pub kernels: Vec<KernelRow>,
    pub categories: Vec<CategoryRow>,
    pub memory_operations: Vec<MemoryRow>,
    pub streams: Vec<StreamRow>,
    pub api_calls: Vec<ApiRow>,
    /// Only of captures without a GPU.
    pub cpu_operators: Vec<OperatorRow>,
    pub ranges: Vec<RangeRow>,
    /// Only if data of plots is requested.
    pub nested_ranges: Vec<NestedRange>,
    pub iterations: Vec<IterationRow>,
    pub iteration_statistics: Vec<IterationStatistics>,
    pub launches: Launches,
    pub idle_causes: Vec<IdleRow>,
    pub cudnn_rnn: Vec<CudnnRnnRow>,
    /// Empty for a single file.
    pub ranks: Vec<RankRow>,
    /// Empty without metrics of nvprof.
    pub metrics: Vec<MetricRow>,
    pub inductor: Option<Inductor>,
}
