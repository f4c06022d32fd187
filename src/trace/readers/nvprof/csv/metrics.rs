//! Metrics and events: counters of the device while a kernel ran.

use super::quantity::split;
use super::{CUT_SHORT, NO_NUMBER, Sheet};
use crate::memory::Room as _;
use crate::trace::MetricRow;

/// Places of the columns that differ between tables.
#[derive(Debug)]
pub(super) struct Columns {
    /// Events have none.
    described: bool,
    /// Behind the names: the shortest, the longest and the average first.
    values: usize,
}

impl Columns {
    pub(super) fn new(names: &[&str]) -> Option<Self> {
        let described = match names {
            ["Device", "Kernel", "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg"] => true,
            ["Device", "Kernel", "Invocations", "Event Name", "Min", "Max", "Avg", ..] if names.len() <= 8 => false,
            _ => return None,
        };
        Some(Self { described, values: names.len() - if described { 5 } else { 4 } })
    }

    /// Adds a row. The kernel's name, in the middle, is the rest of the line.
    pub(super) fn row(&mut self, line: &str, sheet: &mut Sheet<'_>) -> Result<u64, &'static str> {
        let (device, rest) = line.strip_prefix('"').and_then(|rest| rest.split_once("\",")).ok_or(CUT_SHORT)?;
        let (mut rest, mut values) = (rest, Vec::with_capacity(self.values));
        for _ in 0..self.values {
            let (front, value) = rest.rsplit_once(',').ok_or(CUT_SHORT)?;
            values.push(value.trim_matches('"'));
            rest = front;
        }
        values.reverse();
        let rest = rest.strip_suffix('"').ok_or(CUT_SHORT)?;
        let (rest, description) = match rest.rsplit_once("\",\"").filter(|_| self.described) {
            Some((rest, description)) => (rest, Some(description.to_owned())),
            None if self.described => return Err(CUT_SHORT),
            None => (rest, None),
        };
        let (rest, name) = rest.rsplit_once(",\"").ok_or(CUT_SHORT)?;
        let (kernel, invocations) = rest.rsplit_once(',').ok_or(CUT_SHORT)?;
        let kernel = kernel.strip_prefix('"').and_then(|name| name.strip_suffix('"')).ok_or(CUT_SHORT)?;
        let raw = sheet.trace.names.intern(kernel);
        let kernel = sheet.names.of(raw, &mut sheet.trace.names).full;
        let [(min, unit), (max, _), (avg, _)] = [0, 1, 2].map(|at| value(values.get(at).copied().unwrap_or_default()));
        sheet.trace.metrics.put(MetricRow {
            device: device.to_owned(),
            kernel: sheet.trace.names.text(kernel).to_owned(),
            invocations: invocations.parse().map_err(|_| NO_NUMBER)?,
            name: name.to_owned(),
            description,
            min,
            max,
            avg,
            unit,
        });
        Ok(1)
    }
}

/// A number and its unit: `87.34%`, `1.5GB/s`; of a level, `Low (2)`, the number.
pub(super) fn value(text: &str) -> (Option<f64>, Option<String>) {
    let level = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map(|(_, level)| level);
    let (number, unit) = split(level.unwrap_or(text));
    let number = number.parse().ok().filter(|number: &f64| number.is_finite());
    (number, (number.is_some() && !unit.is_empty()).then(|| unit.to_owned()))
}
