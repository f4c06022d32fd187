//! What the columns of Inductor's figures are.

use super::{Columns, column, summed};
use crate::report::summary::value::Unit::{Fraction, Nanoseconds, Plain, Text};
use crate::trace::{Inductor, InductorCategory, InductorKernel};

pub(in crate::report::summary) static INDUCTOR: Columns<Inductor> = &[
    column("wall time", "wall_time_ns", Nanoseconds, |row, _| row.wall_time_ns.into()),
    column("runs", "runs", Plain, |row, _| row.runs.into()),
    column("busy", "busy_fraction", Fraction, |row, _| row.busy_fraction.into()),
];

pub(in crate::report::summary) static INDUCTOR_CATEGORIES: Columns<InductorCategory> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("category", "name", Text, |row, _| row.name.as_str().into()),
];

pub(in crate::report::summary) static INDUCTOR_KERNELS: Columns<InductorKernel> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("kernel", "name", Text, |row, _| row.name.as_str().into()),
];
