//! Traces: a row for each operation of a device, or for each call of the host.

use super::cut::{self, Units};
use super::quantity::{bytes, nanoseconds};
use super::summary::memory_kind;
use super::{CUT_SHORT, NO_NUMBER, Sheet, check_number};
use crate::trace::readers::times::plausible;
use crate::trace::{Entry, Kind, Queue, Shape, Work};

/// Places of the columns of a trace, and their units.
#[derive(Debug)]
pub(super) struct Columns {
    names: Vec<String>,
    /// Number of columns in front of the name.
    before: usize,
    units: Units,
}

/// The columns of a row.
struct Row<'a> {
    columns: &'a Columns,
    fields: Vec<&'a str>,
    name: &'a str,
    behind: Vec<&'a str>,
}

impl Columns {
    pub(super) fn new(names: &[&str]) -> Option<Self> {
        let before = names.iter().position(|name| *name == "Name")?;
        let is_one = names.starts_with(&["Start", "Duration"]) && before >= 2;
        is_one.then(|| Self {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            before,
            units: Units::default(),
        })
    }

    /// Adds a row, and says how many events it is.
    pub(super) fn row(&mut self, line: &str, sheet: &mut Sheet<'_>) -> Result<u64, &'static str> {
        if self.units.take(line) {
            // Of start and duration, each with a unit of its own: six decimals of a second are microseconds.
            sheet.coarse |= line.split(',').take(2).any(|unit| unit == "s");
            return Ok(0);
        }
        let (fields, name, behind) =
            cut::row(line, self.before, self.names.len() - self.before - 1).ok_or(CUT_SHORT)?;
        let row = Row { columns: self, fields, name, behind };
        // Marks, ranges and some rows of shared memory have no duration.
        let is_timed = !row.get("Duration").is_empty();
        if name.starts_with("[Unified Memory") || !is_timed && name.starts_with('[') && memory_kind(name).is_none() {
            return Ok(1);
        }
        if !is_timed {
            return Err("no duration");
        }
        let times = row.time("Start").zip(row.time("Duration")).ok_or(NO_NUMBER)?;
        let times = i64::try_from(times.0).ok().zip(i64::try_from(times.1).ok());
        let (start, end) = times.and_then(|(start, took)| Some((start, start.checked_add(took)?))).ok_or(NO_NUMBER)?;
        let (start, end) = plausible(start, end)?;
        check_number(row.size("Size").unwrap_or(0))?;
        // A trace of both has calls of the host among the operations, with nothing in most columns.
        if row.get("Device").is_empty() {
            let name = sheet.trace.names.intern(name);
            let what = sheet.trace.callee(sheet.clock, None, None, name);
            let correlation = row.get("Correlation_ID").parse().unwrap_or(0);
            sheet.trace.calls.push(Entry { what, start, end, bytes: 0, correlation });
        } else {
            row.operation(sheet, start, end);
        }
        Ok(1)
    }
}

impl Row<'_> {
    /// Returns the text of a column; empty without text.
    fn get(&self, name: &str) -> &str {
        let Some(at) = self.columns.names.iter().position(|column| column == name) else { return "" };
        let before = self.columns.before;
        self.fields.get(at).or_else(|| self.behind.get(at.checked_sub(before + 1)?)).copied().unwrap_or_default()
    }

    fn unit(&self, name: &str) -> &str {
        let at = self.columns.names.iter().position(|column| column == name);
        at.map_or("", |at| self.columns.units.of(at))
    }

    fn time(&self, name: &str) -> Option<u64> {
        nanoseconds(self.get(name), self.unit(name))
    }

    fn size(&self, name: &str) -> Option<u64> {
        bytes(self.get(name), self.unit(name))
    }

    /// Three columns that belong together.
    fn extent(&self, what: &str) -> Option<[u32; 3]> {
        let [x, y, z] = ["X", "Y", "Z"].map(|axis| self.get(&format!("{what} {axis}")).parse().ok());
        Some([x?, y?, z?])
    }

    fn operation(&self, sheet: &mut Sheet<'_>, start: i64, end: i64) {
        let (device_name, device_id) = cut::named_device(self.get("Device"));
        let device = sheet.trace.device(sheet.clock, None, device_id);
        if let Some(device) = sheet.trace.devices.get_mut(device as usize) {
            device.name = device.name.take().or(Some(device_name).filter(|name| !name.is_empty()));
        }
        let queue = Queue { device, stream: self.get("Stream").parse().ok() };
        let names = &mut sheet.trace.names;
        if let Some(kind) = memory_kind(self.name) {
            let (kind, size) = (names.intern(kind), self.size("Size"));
            let kind = Kind::Memory { name: kind, kind, sized: size.is_some() };
            let what = sheet.trace.works.intern(Work { queue, in_graph: false, kind });
            let correlation = self.get("Correlation_ID").parse().unwrap_or(0);
            sheet.trace.memory.push(Entry { what, start, end, bytes: size.unwrap_or(0), correlation });
            return;
        }
        let (name, number) = cut::without_number(self.name);
        let correlation = number.unwrap_or_else(|| self.get("Correlation_ID").parse().unwrap_or(0));
        let raw = names.intern(name);
        let shape = Shape {
            grid: self.extent("Grid"),
            block: self.extent("Block"),
            registers_per_thread: self.get("Registers Per Thread").parse().ok(),
            shared_memory_bytes: self
                .size("Static SMem")
                .zip(self.size("Dynamic SMem"))
                .and_then(|(fixed, dynamic)| fixed.checked_add(dynamic)),
        };
        let kind = Kind::Kernel(sheet.names.of(raw, names), shape);
        let what = sheet.trace.works.intern(Work { queue, in_graph: false, kind });
        sheet.trace.kernels.push(Entry { what, start, end, bytes: 0, correlation });
    }
}
