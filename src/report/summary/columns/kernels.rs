//! What the columns of kernels, their categories and the paths of cuDNN are.

use super::{Columns, column, data, launch, screen, summed};
use crate::report::summary::value::Unit::{Bar, Bytes, Fraction, Nanoseconds, Plain, Shape, Text};
use crate::trace::{CategoryRow, CudnnRnnRow, KernelRow};

pub(in crate::report::summary) static KERNELS: Columns<KernelRow> = &[
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

pub(in crate::report::summary) static CATEGORIES: Columns<CategoryRow> = &[
    summed("share", "kernel_time_fraction", Fraction, |row, _| row.kernel_time_fraction.into()),
    screen("", Bar, |row, _| row.kernel_time_fraction.into()),
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("category", "name", Text, |row, _| row.name.as_str().into()),
];

pub(in crate::report::summary) static CUDNN_RNN: Columns<CudnnRnnRow> = &[
    summed("kernels", "kernel_count", Plain, |row, _| row.kernel_count.into()),
    column("iterations", "iterations", Plain, |row, _| row.iterations.into()),
    column("kernels per iteration", "kernels_per_iteration", Plain, |row, _| row.kernels_per_iteration.into()),
    column("kernels per step", "kernels_per_step", Plain, |row, _| row.kernels_per_step.into()),
    column("path", "path", Text, |row, _| row.path.into()),
    column("phase", "phase", Text, |row, _| row.phase.as_deref().into()),
    column("runner", "runner", Text, |row, _| row.runner.as_deref().into()),
    // People read it below the list.
    data("sentence", "sentence", Text, |row, _| row.sentence.as_str().into()),
];
