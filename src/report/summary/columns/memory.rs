//! What the columns of copies and sets are.

use super::{Columns, column, summed};
use crate::report::summary::value::Unit::{Bytes, GigabytesPerSecond, Nanoseconds, Plain, Text};
use crate::trace::MemoryRow;

pub(in crate::report::summary) static MEMORY: Columns<MemoryRow> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("mean", "mean_ns", Nanoseconds, |row, _| row.mean_ns.into()),
    column("median", "median_ns", Nanoseconds, |row, _| row.median_ns.into()),
    column("min", "min_ns", Nanoseconds, |row, _| row.min_ns.into()),
    column("max", "max_ns", Nanoseconds, |row, _| row.max_ns.into()),
    column("stddev", "stddev_ns", Nanoseconds, |row, _| row.stddev_ns.into()),
    summed("total size", "total_bytes", Bytes, |row, _| row.total_bytes.into()),
    column("mean size", "mean_bytes", Bytes, |row, _| row.mean_bytes.into()),
    column("median size", "median_bytes", Bytes, |row, _| row.median_bytes.into()),
    column("min size", "min_bytes", Bytes, |row, _| row.min_bytes.into()),
    column("max size", "max_bytes", Bytes, |row, _| row.max_bytes.into()),
    column("stddev size", "stddev_bytes", Bytes, |row, _| row.stddev_bytes.into()),
    column("bandwidth", "bandwidth_gb_per_s", GigabytesPerSecond, |row, _| row.bandwidth_gb_per_s.into()),
    column("device", "device_id", Plain, |row, _| row.device_id.into()),
    column("kind", "kind", Text, |row, _| row.kind.as_str().into()),
];
