//! What the columns of ranges and iterations are.

use super::{Columns, column, data, summed};
use crate::report::summary::value::Unit::{Nanoseconds, Plain, Text};
use crate::report::summary::value::Value;
use crate::trace::{IterationRow, IterationStatistics, RangeRow};

// What is launched in a range of a range counts in both, so that only exclusive times add up.
pub(in crate::report::summary) static RANGES: Columns<RangeRow> = &[
    column("GPU inclusive", "gpu_inclusive_ns", Nanoseconds, |row, _| row.gpu_inclusive_ns.into()),
    summed("GPU exclusive", "gpu_exclusive_ns", Nanoseconds, |row, _| row.gpu_exclusive_ns.into()),
    column("kernels", "kernel_count", Plain, |row, _| row.kernel_count.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("host", "host_total_ns", Nanoseconds, |row, _| row.host_total_ns.into()),
    column("kind", "kind", Text, |row, _| row.kind.into()),
    column("phase", "phase", Text, |row, _| row.phase.as_deref().into()),
    column("runner", "runner", Text, |row, _| row.runner.as_deref().into()),
    column("domain", "domain", Text, |row, _| row.domain.as_deref().into()),
    column("name", "name", Text, |row, _| row.name.as_str().into()),
];

pub(in crate::report::summary) static ITERATIONS: Columns<IterationRow> = &[
    column("iteration", "index", Plain, |row, _| row.index.into()),
    data("start", "start_ns", Nanoseconds, |row, _| row.start_ns.into()),
    summed("duration", "duration_ns", Nanoseconds, |row, _| row.duration_ns.into()),
    summed("GPU busy", "gpu_busy_ns", Nanoseconds, |row, _| row.gpu_busy_ns.into()),
    column("outlier", "outlier", Text, |row, _| Value::Flag(row.outlier)),
    column("phase", "phase", Text, |row, _| row.phase.as_deref().into()),
    column("runner", "runner", Text, |row, _| row.runner.as_deref().into()),
    column("unlike the median", "differences", Text, |row, _| Value::Differences(&row.differences)),
];

pub(in crate::report::summary) static ITERATION_STATISTICS: Columns<IterationStatistics> = &[
    summed("count", "count", Plain, |row, _| row.count.into()),
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    column("mean", "mean_ns", Nanoseconds, |row, _| row.mean_ns.into()),
    column("median", "median_ns", Nanoseconds, |row, _| row.median_ns.into()),
    column("min", "min_ns", Nanoseconds, |row, _| row.min_ns.into()),
    column("max", "max_ns", Nanoseconds, |row, _| row.max_ns.into()),
    column("stddev", "stddev_ns", Nanoseconds, |row, _| row.stddev_ns.into()),
    column("p95", "p95_ns", Nanoseconds, |row, _| row.p95_ns.into()),
    column("GPU busy", "gpu_busy_median_ns", Nanoseconds, |row, _| row.gpu_busy_median_ns.into()),
    summed("outliers", "outlier_count", Plain, |row, _| row.outlier_count.into()),
    column("phase", "phase", Text, |row, _| row.phase.as_deref().into()),
    column("runner", "runner", Text, |row, _| row.runner.as_deref().into()),
];
