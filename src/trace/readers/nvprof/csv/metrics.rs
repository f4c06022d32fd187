//! Metrics and events: counters of the device while a kernel ran.

use super::quantity::{conversion, is_rate, split};
use super::{CUT_SHORT, NO_NUMBER, Sheet, check_number};
use crate::memory::Room as _;
use crate::trace::MetricRow;

/// Reason for skipping a row whose numbers have units that do not measure the same.
pub(super) const UNITS: &str = "different units";
/// nvprof rounds averages of rates down to as many bytes per second.
const RATE_STEP: f64 = 1e6;
/// Rounding error of printed numbers: relative, and absolute below 1.
const ROUNDING: f64 = 1e-5;

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
        let found = [0, 1, 2].map(|at| value(values.get(at).copied().unwrap_or_default()));
        // Each number has the unit in which it is short.
        let unit = [1, 0, 2].into_iter().find_map(|at| found[at].1.clone());
        let numbers: Option<Vec<_>> = found.iter().map(|found| in_unit(found, unit.as_deref())).collect();
        let Some(&[min, max, avg]) = numbers.as_deref() else { return Err(UNITS) };
        if !are_ordered(min, max, avg, unit.as_deref()) {
            return Err("inconsistent values");
        }
        sheet.trace.metrics.put(MetricRow {
            device: device.into(),
            kernel: sheet.trace.names.shared(kernel),
            invocations: check_number(invocations.parse().map_err(|_| NO_NUMBER)?)?,
            name: name.into(),
            description,
            min,
            max,
            avg,
            unit,
        });
        Ok(1)
    }
}

/// A number, if there is one, and its own unit.
pub(super) type Value = (Option<f64>, Option<String>);

/// Converts a number to the unit of other numbers. Returns None if that is not possible.
#[allow(clippy::option_option, reason = "a number that is missing needs no conversion")]
pub(super) fn in_unit((number, own): &Value, unit: Option<&str>) -> Option<Option<f64>> {
    let Some(number) = number else { return Some(None) };
    let number = number * conversion(own.as_deref().unwrap_or_default(), unit.unwrap_or_default())?;
    number.is_finite().then_some(Some(number))
}

/// Returns true if an average can be one of numbers from the smallest to the largest. What is unknown agrees.
fn are_ordered(min: Option<f64>, max: Option<f64>, avg: Option<f64>, unit: Option<&str>) -> bool {
    let step =
        unit.filter(|unit| is_rate(unit)).and_then(|unit| conversion("B/s", unit)).map_or(0.0, |b| b * RATE_STEP);
    let up_to = |low: Option<f64>, high: Option<f64>, slack: f64| {
        low.zip(high).is_none_or(|(low, high)| low - high <= slack + ROUNDING * high.abs().max(1.0))
    };
    up_to(min, max, 0.0) && up_to(avg, max, 0.0) && up_to(min, avg, step)
}

/// A number and its unit: `87.34%`, `1.5GB/s`; of a level, `Low (2)`, the number.
pub(super) fn value(text: &str) -> Value {
    let level = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).map(|(_, level)| level);
    let (number, unit) = split(level.unwrap_or(text));
    let number = number.parse().ok().filter(|number: &f64| number.is_finite());
    (number, (number.is_some() && !unit.is_empty()).then(|| unit.to_owned()))
}
