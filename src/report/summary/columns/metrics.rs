//! What the columns of nvprof's metrics are.

use super::{Columns, column, data, summed};
use crate::report::summary::value::Unit::{Plain, Text};
use crate::trace::MetricRow;

pub(in crate::report::summary) static METRICS: Columns<MetricRow> = &[
    summed("invocations", "invocations", Plain, |row, _| row.invocations.into()),
    column("min", "min", Plain, |row, _| row.min.into()),
    column("max", "max", Plain, |row, _| row.max.into()),
    column("mean", "avg", Plain, |row, _| row.avg.into()),
    column("unit", "unit", Text, |row, _| row.unit.as_deref().into()),
    column("device", "device", Text, |row, _| row.device.as_str().into()),
    column("metric", "name", Text, |row, _| row.name.as_str().into()),
    data("description", "description", Text, |row, _| row.description.as_deref().into()),
    column("kernel", "kernel", Text, |row, _| row.kernel.as_str().into()),
];
