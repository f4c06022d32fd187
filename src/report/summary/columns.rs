//! What the columns of each list are. A new column is one line here.

use super::Names;
use super::value::Unit::{self, Bar, Bytes, Fraction, GigabytesPerSecond, Nanoseconds, Plain, Shape, Text};
use super::value::Value;
use crate::trace::{
    ApiRow, Capture, CategoryRow, DeviceRow, Inductor, InductorCategory, InductorKernel, KernelRow, MemoryRow,
    StreamRow,
};

/// Where a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Everywhere,
    /// Only where programs read: too much for a screen.
    Data,
    /// Only where people read: the document has no such key.
    Screen,
    /// Where programs read, and where people ask for the shapes of launches.
    LaunchShape,
}

/// What a column says of itself, whatever its rows are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// For people, without the unit.
    pub(super) heading: &'static str,
    /// The document's key.
    pub(super) key: &'static str,
    pub(super) unit: Unit,
    pub(super) place: Place,
    /// Whether the sum over rows means something.
    pub(super) summed: bool,
}

/// A column of rows of one kind.
#[derive(Debug)]
pub(super) struct Column<R> {
    pub(super) head: Head,
    pub(super) get: Get<R>,
}

/// Text comes last in each list, so that a long one pushes nothing aside.
pub(super) type Columns<R> = &'static [Column<R>];

type Get<R> = for<'a> fn(&'a R, Names) -> Value<'a>;

const fn column<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::Everywhere, summed: false }, get }
}

/// A column whose sum over rows means something.
const fn summed<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::Everywhere, summed: true }, get }
}

const fn data<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::Data, summed: false }, get }
}

const fn launch<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::LaunchShape, summed: false }, get }
}

const fn screen<R>(heading: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key: "", unit, place: Place::Screen, summed: false }, get }
}

pub(super) static CAPTURES: Columns<Capture> = &[
    column("size", "size_bytes", Bytes, |row, _| row.size_bytes.into()),
    column("events read", "events_read", Plain, |row, _| row.events_read.into()),
    column("not read", "events_skipped", Plain, |row, _| row.events_skipped.into()),
    column("format", "format", Text, |row, _| row.format.into()),
    column("its version", "format_version", Text, |row, _| row.format_version.as_deref().into()),
    column("written by", "tool_version", Text, |row, _| row.tool_version.as_deref().into()),
    column("capture", "path", Text, |row, _| row.path.as_str().into()),
];

pub(super) static DEVICES: Columns<DeviceRow> = &[
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

pub(super) static KERNELS: Columns<KernelRow> = &[
    summed("share", "kernel_time_fraction", Fraction, |row, _| row.kernel_time_fraction.into()),
    data("share of span", "span_fraction", Fraction, |row, _| row.span_fraction.into()),
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("mean", "mean_ns", Nanoseconds, |row, _| row.mean_ns.into()),
    column("median", "median_ns", Nanoseconds, |row, _| row.median_ns.into()),
    column("min", "min_ns", Nanoseconds, |row, _| row.min_ns.into()),
    column("max", "max_ns", Nanoseconds, |row, _| row.max_ns.into()),
    column("stddev", "stddev_ns", Nanoseconds, |row, _| row.stddev_ns.into()),
    column("p95", "p95_ns", Nanoseconds, |row, _| row.p95_ns.into()),
    launch("grid", "grid", Shape, |row, _| row.grid.into()),
    launch("block", "block", Shape, |row, _| row.block.into()),
    launch("registers per thread", "registers_per_thread", Plain, |row, _| row.registers_per_thread.into()),
    launch("shared memory", "shared_memory_bytes", Bytes, |row, _| row.shared_memory_bytes.into()),
    column("device", "device_id", Plain, |row, _| row.device_id.into()),
    column("category", "category", Text, |row, _| row.category.as_str().into()),
    column("name", "name", Text, |row, names| names.of(row).into()),
    data("short name", "short_name", Text, |row, _| row.short_name.as_str().into()),
    data("mangled name", "mangled_name", Text, |row, _| row.mangled_name.as_deref().into()),
];

pub(super) static CATEGORIES: Columns<CategoryRow> = &[
    summed("share", "kernel_time_fraction", Fraction, |row, _| row.kernel_time_fraction.into()),
    screen("", Bar, |row, _| row.kernel_time_fraction.into()),
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("category", "name", Text, |row, _| row.name.as_str().into()),
];

pub(super) static MEMORY: Columns<MemoryRow> = &[
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

pub(super) static STREAMS: Columns<StreamRow> = &[
    column("device", "device_id", Plain, |row, _| row.device_id.into()),
    column("stream", "stream_id", Plain, |row, _| row.stream_id.into()),
    column("busy", "busy_ns", Nanoseconds, |row, _| row.busy_ns.into()),
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("kernels", "kernel_count", Plain, |row, _| row.kernel_count.into()),
];

pub(super) static API_CALLS: Columns<ApiRow> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("mean", "mean_ns", Nanoseconds, |row, _| row.mean_ns.into()),
    column("median", "median_ns", Nanoseconds, |row, _| row.median_ns.into()),
    column("min", "min_ns", Nanoseconds, |row, _| row.min_ns.into()),
    column("max", "max_ns", Nanoseconds, |row, _| row.max_ns.into()),
    column("stddev", "stddev_ns", Nanoseconds, |row, _| row.stddev_ns.into()),
    column("function", "name", Text, |row, _| row.name.as_str().into()),
];

pub(super) static INDUCTOR: Columns<Inductor> = &[
    column("wall time", "wall_time_ns", Nanoseconds, |row, _| row.wall_time_ns.into()),
    column("runs", "runs", Plain, |row, _| row.runs.into()),
    column("busy", "busy_fraction", Fraction, |row, _| row.busy_fraction.into()),
];

pub(super) static INDUCTOR_CATEGORIES: Columns<InductorCategory> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("category", "name", Text, |row, _| row.name.as_str().into()),
];

pub(super) static INDUCTOR_KERNELS: Columns<InductorKernel> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("kernel", "name", Text, |row, _| row.name.as_str().into()),
];
