//! The tables that nvprof prints: summaries, traces and metrics with `--csv`, and summaries without.
//!
//! Between banners (`==PID== …`) and whatever the program printed, a table begins with its header. Columns are found by
//! name, units in the row below it. Quotes inside names are not escaped, so rows are cut at as many commas as the header has.
//! Tables of ranges and of unified memory repeat or add what no summary needs: their rows are only counted.

mod cut;
mod headers;
mod launches;
mod lines;
mod metrics;
mod quantity;
mod summary;
mod text;
mod timeline;

use rustc_hash::{FxHashMap, FxHashSet};

pub(in crate::trace) use self::cut::named_device;
use self::headers::Headers;
use self::lines::Lines;
use super::names::KernelNames;
use crate::error::{Error, Result};
use crate::trace::readers::{Interrupted, Source, mark_cut};
use crate::trace::{Capture, Total, TotalKind, Trace, Warning, counted};

/// Reasons for which a row is skipped.
const NO_NUMBER: &str = "text instead of a number";
const CUT_SHORT: &str = "fewer columns than the header";
const NO_HEADER: &str = "row without a known header";

/// Returns a count or a size, unless it is above all that a run can have.
fn check_number(number: u64) -> std::result::Result<u64, &'static str> {
    if number <= 1 << 53 { Ok(number) } else { Err("a count or size above 2⁵³") }
}

/// Returns true if a file with this start has tables of nvprof: a banner, or a header.
pub(in crate::trace::readers) fn matches(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    lines::without_mark(&text)
        .lines()
        .any(|line| is_banner(line) && line.contains("rofil") || Table::of_header(line).is_some())
}

fn is_banner(line: &str) -> bool {
    line.strip_prefix("==")
        .and_then(|rest| rest.split_once("== "))
        .is_some_and(|(id, _)| id.bytes().all(|byte| byte.is_ascii_digit()) || id.bytes().all(|byte| byte == b'='))
}

/// A table whose header has been read.
#[derive(Debug)]
enum Table {
    Summary(summary::Columns),
    Timeline(timeline::Columns),
    Metrics(metrics::Columns),
    Launches(launches::Columns),
    Text(text::Columns),
    /// Its rows are only counted.
    Counted,
    /// Its rows cannot be separated.
    Unread,
}

impl Table {
    /// The table that a line begins.
    fn of_header(line: &str) -> Option<Self> {
        if let Some(names) = cut::header(line) {
            return summary::Columns::new(&names)
                .map(Self::Summary)
                .or_else(|| timeline::Columns::new(&names).map(Self::Timeline))
                .or_else(|| metrics::Columns::new(&names).map(Self::Metrics))
                .or_else(|| launches::Columns::new(&names).map(Self::Launches))
                .or_else(|| names.contains(&"Avg Size").then_some(Self::Counted));
        }
        text::Columns::new(line).map(Self::Text).or_else(|| {
            let mut words = line.split_ascii_whitespace();
            (words.next() == Some("Start") && words.next() == Some("Duration")).then_some(Self::Unread)
        })
    }
}

/// Context of a line, from the lines before it.
#[derive(Debug, Default)]
struct Place {
    /// Below the headline of ranges, which repeat the rows above it.
    in_ranges: bool,
    /// Below the headline of calls, where tables have no column for it.
    of_calls: bool,
    /// The device, where each has tables of its own.
    device: Option<(String, Option<i64>)>,
}

impl Place {
    fn banner(&mut self, text: &str) {
        let text = text.trim();
        if text.ends_with("rofiling result:") && !text.starts_with("Unified") {
            *self = Self::default();
        } else if text.starts_with("NVTX result") || text.starts_with("OpenACC") || text.starts_with("OpenMP") {
            self.in_ranges = true;
        } else if text.starts_with("API calls:") {
            self.of_calls = true;
        } else if let Some(device) = text.strip_prefix("Device \"").and_then(|rest| rest.strip_suffix('"')) {
            self.device = Some(cut::named_device(device));
        }
    }
}

/// State while a file is read.
struct Sheet<'a> {
    capture: Capture,
    trace: &'a mut Trace,
    names: KernelNames,
    clock: u32,
    /// The clock of each process.
    clocks: FxHashMap<String, u32>,
    /// The process of the last banner of a result; empty before the first.
    process: String,
    place: Place,
    /// The coarsest unit of the starts of a trace, if it is coarser than a nanosecond.
    coarse: bool,
    summaries: u64,
    /// The rows of summaries, each with its process.
    totals: FxHashSet<(String, Total)>,
    /// Number of rows that equal one before them.
    repeated: u64,
}

/// Reads a file.
pub(in crate::trace::readers) fn read(
    source: Source<'_>,
    trace: &mut Trace,
    interrupted: Interrupted<'_>,
) -> Result<Capture> {
    let Source { bytes, capture, .. } = source;
    let clock = trace.add_clock(clock_name(&capture, trace, ""));
    let (names, process, place) = (KernelNames::default(), String::new(), Place::default());
    let (clocks, coarse, totals) = (FxHashMap::default(), false, FxHashSet::default());
    let (summaries, repeated) = (0, 0);
    let mut sheet = Sheet { capture, trace, names, clock, clocks, process, place, coarse, summaries, totals, repeated };
    let (mut table, mut lines, mut unread) = (None, Lines::new(bytes, interrupted), 0);
    let (mut headers, mut columns, mut cut_row) = (Headers::default(), 0, None);
    while let Some(line) = lines.next()? {
        let Some(line) = line else {
            sheet.capture.skip("unreadable or too long line", Some(lines.offset));
            continue;
        };
        if is_banner(line) {
            table = None;
            let (process, text) = line.split_once("== ").unwrap_or_default();
            sheet.place.banner(text);
            if text.contains("rofiling result") {
                sheet.start_process(process);
            }
            headers.banner(text);
            if let Some((count, reason)) = lost_records(text) {
                sheet.capture.skip_many(reason, count, Some(lines.offset));
            }
        } else if let Some(begun) = Table::of_header(line) {
            headers.found();
            columns = cut::header(line).map_or(0, |names| names.len());
            table = Some(if sheet.place.in_ranges { Table::Counted } else { begun });
        } else if line.trim().is_empty() {
            table = None;
        } else if let Some(table) = &mut table {
            let outcome = match table {
                Table::Summary(columns) => columns.row(line, &mut sheet),
                Table::Timeline(columns) => columns.row(line, &mut sheet),
                Table::Metrics(columns) => columns.row(line, &mut sheet),
                Table::Launches(columns) => columns.row(line, &mut sheet),
                Table::Text(columns) => columns.row(line, &mut sheet),
                Table::Counted => Ok(u64::from(!cut::is_units(line))),
                Table::Unread => {
                    unread += 1;
                    Err("trace as text instead of CSV")
                }
            };
            // Rows of units, and those that are only counted, are read whatever they lack.
            let is_short = outcome == Err(CUT_SHORT) || line.ends_with(',') || line.split(',').count() < columns;
            cut_row = (is_short && lines.is_open).then_some(lines.offset);
            match outcome {
                Ok(count) => sheet.capture.events_read += count,
                Err(reason) => sheet.capture.skip(reason, Some(lines.offset)),
            }
        } else {
            headers.other(line);
            if is_row(line) {
                sheet.capture.skip(NO_HEADER, Some(lines.offset));
            }
        }
    }
    let has_rows = sheet.capture.skipped.iter().any(|skipped| skipped.reason == NO_HEADER);
    let reason = match headers {
        Headers::None => Some("the nvprof output has no table"),
        Headers::Unknown if !has_rows => Some("the tables of the nvprof output have no known header"),
        Headers::Known if unread > 0 && sheet.capture.events_read == 0 => Some("the file is an nvprof trace as text"),
        _ => None,
    };
    if let Some(reason) = reason {
        return Err(Error::NotACapture {
            path: sheet.capture.path,
            reason: reason.to_owned(),
            hint: if matches!(headers, Headers::Unknown) {
                "Print the trace again, with commas between columns: nvprof --csv --print-gpu-trace COMMAND"
            } else {
                "Print the trace as CSV: nvprof --csv --print-gpu-trace COMMAND"
            }
            .to_owned(),
        });
    }
    let broken = lines.fault.as_deref().map(|reason| (lines.offset, reason));
    if let Some((position, reason)) = broken.or(cut_row.map(|position| (position, "the file ends inside a row"))) {
        let warning = mark_cut(&mut sheet.capture, position, reason);
        sheet.trace.warnings.push(warning);
    }
    Ok(sheet.finish())
}

/// Returns the name of the clock of a process, which counts from its own start.
fn clock_name(capture: &Capture, trace: &Trace, process: &str) -> String {
    format!("capture {} {} {process}", trace.capture_number(), capture.path)
}

/// Returns the number of records that nvprof left out, and why, from the text of its warning.
fn lost_records(text: &str) -> Option<(u64, &'static str)> {
    let text = text.trim().strip_prefix("Warning: ")?;
    let (count, what) = text.strip_prefix("Found ").unwrap_or(text).split_once(' ')?;
    let reasons = [
        ("invalid records in the result", "invalid record of the profile"),
        ("records have invalid timestamps", "invalid times, because a buffer of nvprof was too small"),
        ("records were dropped", "dropped, because a buffer of nvprof was too small"),
    ];
    let (_, reason) = reasons.into_iter().find(|(start, _)| what.starts_with(start))?;
    Some((count.parse().ok()?, reason))
}

/// Returns true if a line looks like a row: a program's own output may stand between tables.
fn is_row(line: &str) -> bool {
    line.contains('"') && line.bytes().filter(|&byte| byte == b',').count() > 2
}

impl Sheet<'_> {
    /// Takes the process whose tables follow: of a program and its children, a file has tables of each.
    fn start_process(&mut self, process: &str) {
        if self.process == process {
            return;
        }
        let name = clock_name(&self.capture, self.trace, process);
        if self.process.is_empty() {
            self.trace.rename_clock(self.clock, name);
        } else {
            self.clock = self.clocks.get(process).copied().unwrap_or_else(|| self.trace.add_clock(name));
        }
        self.clocks.insert(process.to_owned(), self.clock);
        process.clone_into(&mut self.process);
    }

    fn finish(self) -> Capture {
        let path = &self.capture.path;
        let is_call = |total: &Total| matches!(total.kind, TotalKind::Call(_));
        let has_events = |total: &Total| {
            if is_call(total) {
                !self.trace.calls.is_empty()
            } else {
                self.trace.kernels.len() + self.trace.memory.len() > 0
            }
        };
        let repeated = self.trace.totals.iter().filter(|total| has_events(total)).count() as u64;
        if repeated > 0 {
            self.trace.warnings.push(Warning {
                code: "activities_repeated",
                message: "activities may count twice, because a file contains a trace and a summary".to_owned(),
                evidence: format!("{path}: {} beside a trace", counted(repeated, "summary row")),
                hint: "Store the trace in its own file.".to_owned(),
            });
        // In tables of different processes few rows are equal, and in a table that is there twice all are.
        } else if self.repeated > 0 && self.repeated >= self.summaries.div_ceil(2) {
            self.trace.warnings.push(Warning {
                code: "activities_repeated",
                message: "activities count twice, because a file contains a summary twice".to_owned(),
                evidence: format!("{path}: {} of {} summary rows equal another one", self.repeated, self.summaries),
                hint: "Store each summary in its own file.".to_owned(),
            });
        }
        if self.summaries > 0 {
            self.trace.warnings.push(Warning {
                code: "summary_only",
                message: "medians, idle time and streams are unknown, because the file contains only totals".to_owned(),
                evidence: format!("{path}: {}", counted(self.summaries, "summary row")),
                hint: "Capture a trace: nvprof --csv --print-gpu-trace -u ns COMMAND".to_owned(),
            });
        }
        if self.coarse {
            self.trace.warnings.push(Warning {
                code: "rounded_times",
                message: "each time has an error of up to 1 µs, because starts or durations are whole microseconds"
                    .to_owned(),
                evidence: format!("{path}: a unit of the columns Start and Duration is s"),
                hint: "Print nanoseconds: nvprof --csv --print-gpu-trace -u ns COMMAND".to_owned(),
            });
        }
        self.capture
    }
}

#[cfg(test)]
mod tests;
