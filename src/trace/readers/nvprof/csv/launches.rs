//! Metrics and events launch by launch: a row for each, with a column for each metric.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cut::{self, Units};
use super::metrics::{UNITS, Value, in_unit, value};
use super::{CUT_SHORT, Sheet};
use crate::memory::Room as _;
use crate::trace::{MetricRow, NameId};

/// Columns in front of the kernel's name.
const BEFORE: [&str; 4] = ["Device", "Context", "Stream", "Kernel"];
/// More columns than there are metrics and events: each is a row for each kernel.
const MOST: usize = 1_000;
/// More rows than a profile has: a cell of two bytes may be a row of its own.
const MOST_ROWS: usize = 1_000_000;
/// Column behind the name of the kernel in older releases.
const NUMBER: &str = "Correlation_ID";

/// Places of the columns, and the results of the rows.
#[derive(Debug)]
pub(super) struct Columns {
    /// Behind the kernel's name, in this order.
    names: Vec<Arc<str>>,
    units: Units,
    /// The sums of each device and kernel, and the place of their first row.
    found: FxHashMap<(Arc<str>, NameId), (usize, Vec<Sum>)>,
}

/// Sums for an average.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    count: u64,
    sum: f64,
}

impl Columns {
    pub(super) fn new(names: &[&str]) -> Option<Self> {
        let names: Vec<Arc<str>> = names.strip_prefix(&BEFORE)?.iter().map(|&name| name.into()).collect();
        names.iter().any(|name| **name != *NUMBER).then(|| Self {
            names,
            units: Units::default(),
            found: FxHashMap::default(),
        })
    }

    /// Adds a row to those of its device and kernel, as in a summary of metrics.
    pub(super) fn row(&mut self, line: &str, sheet: &mut Sheet<'_>) -> Result<u64, &'static str> {
        if self.names.len() > MOST {
            return Err("more than 1,000 columns of metrics");
        }
        if self.units.take(line) {
            return Ok(0);
        }
        let (fields, name, texts) = cut::row(line, BEFORE.len() - 1, self.names.len()).ok_or(CUT_SHORT)?;
        let mut values = self.values(texts).ok_or(UNITS)?;
        let device: Arc<str> = fields[0].into();
        let raw = sheet.trace.names.intern(cut::without_number(name).0);
        let kernel = sheet.names.of(raw, &mut sheet.trace.names).full;
        let rows = &mut sheet.trace.metrics;
        let key = (device, raw);
        if rows.len() + self.names.len() > MOST_ROWS && !self.found.contains_key(&key) {
            return Err("more than 1,000,000 metrics of kernels");
        }
        rows.room(self.names.len());
        self.found.room(1);
        let is_metric = |&(column, name): &(usize, &Arc<str>)| column > 0 || **name != *NUMBER;
        let (first, sums) = self.found.entry(key).or_insert_with_key(|(device, _)| {
            let first = rows.len();
            rows.extend(self.names.iter().enumerate().filter(is_metric).map(|(column, name)| MetricRow {
                device: Arc::clone(device),
                kernel: sheet.trace.names.shared(kernel),
                name: Arc::clone(name),
                unit: unit_of(&self.units, column),
                ..MetricRow::default()
            }));
            (first, vec![Sum::default(); rows.len() - first])
        });
        let columns = self.names.iter().enumerate().filter(is_metric).map(|(column, _)| column);
        for (row, column) in rows[*first..].iter().zip(columns.clone()) {
            let unit = if row.max.is_some() { row.unit.clone() } else { values[column].1.clone() };
            values[column] = (in_unit(&values[column], unit.as_deref()).ok_or(UNITS)?, unit);
        }
        for ((row, sum), column) in rows[*first..].iter_mut().zip(sums).zip(columns) {
            row.invocations += 1;
            let (Some(number), own) = &values[column] else { continue };
            *sum = Sum { count: sum.count + 1, sum: sum.sum + number };
            row.min = Some(row.min.map_or(*number, |min| min.min(*number)));
            row.max = Some(row.max.map_or(*number, |max| max.max(*number)));
            #[allow(clippy::cast_precision_loss, reason = "no file has so many rows")]
            let average = sum.sum / sum.count as f64;
            row.avg = Some(average).filter(|average| average.is_finite());
            row.unit = row.unit.take().or_else(|| own.clone());
        }
        Ok(1)
    }

    /// Reads the numbers of a row, in the units of their columns if those have units.
    fn values(&self, texts: Vec<&str>) -> Option<Vec<Value>> {
        let in_own = |(column, text)| {
            let (number, own) = value(text);
            let unit = unit_of(&self.units, column);
            let found = (number, own.or_else(|| unit.clone()));
            Some(if unit.is_some() { (in_unit(&found, unit.as_deref())?, unit) } else { found })
        };
        texts.into_iter().enumerate().map(in_own).collect()
    }
}

/// Returns the unit of a column behind the kernel's name.
fn unit_of(units: &Units, column: usize) -> Option<String> {
    Some(units.of(BEFORE.len() + column)).filter(|unit| !unit.is_empty()).map(str::to_owned)
}
