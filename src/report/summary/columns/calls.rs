//! What the columns of calls and launches are.

use super::{Columns, column, summed};
use crate::report::summary::value::Unit::{Nanoseconds, Plain, Text};
use crate::trace::{ApiRow, Launches};

pub(in crate::report::summary) static API_CALLS: Columns<ApiRow> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("mean", "mean_ns", Nanoseconds, |row, _| row.mean_ns.into()),
    column("median", "median_ns", Nanoseconds, |row, _| row.median_ns.into()),
    column("min", "min_ns", Nanoseconds, |row, _| row.min_ns.into()),
    column("max", "max_ns", Nanoseconds, |row, _| row.max_ns.into()),
    column("stddev", "stddev_ns", Nanoseconds, |row, _| row.stddev_ns.into()),
    column("function", "name", Text, |row, _| row.name.as_str().into()),
];

pub(in crate::report::summary) static LAUNCHES: Columns<Launches> = &[
    column("matched", "matched_count", Plain, |row, _| row.matched_count.into()),
    column("unmatched kernels", "unmatched_kernel_count", Plain, |row, _| row.unmatched_kernel_count.into()),
    column("median latency", "latency_median_ns", Nanoseconds, |row, _| row.latency_median_ns.into()),
    column("p95 latency", "latency_p95_ns", Nanoseconds, |row, _| row.latency_p95_ns.into()),
    column("median queue", "queue_median_ns", Nanoseconds, |row, _| row.queue_median_ns.into()),
    column("p95 queue", "queue_p95_ns", Nanoseconds, |row, _| row.queue_p95_ns.into()),
];
