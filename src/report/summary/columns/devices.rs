//! What the columns of captures, devices, streams and ranks are.

use super::{Columns, column, data, screen, summed};
use crate::report::summary::value::Unit::{Bytes, Fraction, Nanoseconds, Plain, Text};
use crate::report::summary::value::Value;
use crate::trace::{Capture, DeviceRow, RankRow, StreamRow};

pub(in crate::report::summary) static CAPTURES: Columns<Capture> = &[
    column("size", "size_bytes", Bytes, |row, _| row.size_bytes.into()),
    column("events read", "events_read", Plain, |row, _| row.events_read.into()),
    column("not read", "events_skipped", Plain, |row, _| row.events_skipped.into()),
    column("format", "format", Text, |row, _| row.format.into()),
    column("its version", "format_version", Text, |row, _| row.format_version.as_deref().into()),
    column("written by", "tool_version", Text, |row, _| row.tool_version.as_deref().into()),
    column("capture", "path", Text, |row, _| row.path.as_str().into()),
];

pub(in crate::report::summary) static DEVICES: Columns<DeviceRow> = &[
    column("device", "device_id", Plain, |row, _| row.device_id.into()),
    column("process", "process_id", Plain, |row, _| row.process_id.into()),
    data("start", "start_ns", Nanoseconds, |row, _| row.start_ns.into()),
    data("end", "end_ns", Nanoseconds, |row, _| row.end_ns.into()),
    column("span", "span_ns", Nanoseconds, |row, _| row.span_ns.into()),
    column("busy", "busy_ns", Nanoseconds, |row, _| row.busy_ns.into()),
    column("busy", "utilization", Fraction, |row, _| row.utilization.into()),
    column("idle", "idle_ns", Nanoseconds, |row, _| row.idle_ns.into()),
    screen("idle", Fraction, |row, _| row.utilization.map(|busy| 1.0 - busy).into()),
    column("overlap", "overlap_ns", Nanoseconds, |row, _| row.overlap_ns.into()),
    summed("kernels", "kernel_count", Plain, |row, _| row.kernel_count.into()),
    summed("kernels", "kernel_total_ns", Nanoseconds, |row, _| row.kernel_total_ns.into()),
    column("name", "name", Text, |row, _| row.name.as_deref().into()),
];

pub(in crate::report::summary) static STREAMS: Columns<StreamRow> = &[
    column("device", "device_id", Plain, |row, _| row.device_id.into()),
    column("stream", "stream_id", Plain, |row, _| row.stream_id.into()),
    column("busy", "busy_ns", Nanoseconds, |row, _| row.busy_ns.into()),
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("kernels", "kernel_count", Plain, |row, _| row.kernel_count.into()),
];

pub(in crate::report::summary) static RANKS: Columns<RankRow> = &[
    column("rank", "rank", Plain, |row, _| row.rank.into()),
    column("span", "span_ns", Nanoseconds, |row, _| row.span_ns.into()),
    column("busy", "busy_ns", Nanoseconds, |row, _| row.busy_ns.into()),
    column("busy over median", "busy_ratio", Plain, |row, _| row.busy_ratio.into()),
    summed("kernels", "kernel_count", Plain, |row, _| row.kernel_count.into()),
    summed("kernels", "kernel_total_ns", Nanoseconds, |row, _| row.kernel_total_ns.into()),
    column("slowest", "slowest", Text, |row, _| Value::Flag(row.slowest)),
    column("capture", "path", Text, |row, _| row.path.as_str().into()),
];
