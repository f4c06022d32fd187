//! The table of `bench`: the original benchmark's columns, then the unit, the estimates with their intervals, what stands
//! behind them, and the memory that it took.

use super::align::{Align, pad, width};
use super::escape::visible;
use super::run::{Phase, Row, Run};
use crate::error::Result;
use crate::units::{show_mebibytes, show_milliseconds};

const HEADINGS: [&str; 15] = [
    "name", "avg_fwd", "std_fwd", "info_fwd", "avg_bwd", "std_bwd", "info_bwd", "unit", "est_fwd", "ci95_fwd",
    "est_bwd", "ci95_bwd", "procs", "warmup", "peak_MiB",
];
/// Columns as wide as the original's were for names, and wide enough for an interval of two numbers.
const WIDTHS: [usize; 15] = [16, 9, 9, 9, 9, 9, 9, 4, 9, 18, 9, 18, 5, 15, 8];
/// A number that does not exist: too few samples, or a runner without a backward.
const NONE: &str = "-";

/// The layout of a table whose rows may arrive one by one.
#[derive(Debug, Clone)]
pub struct Table {
    widths: [usize; 15],
    separator: String,
}

impl Table {
    /// A table wide enough for the longest of `names`, its fields parted by `separator`.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, separator: &str) -> Self {
        let mut widths = WIDTHS;
        let longest = names.into_iter().map(|name| width(&visible(name))).max().unwrap_or(0);
        widths[0] = widths[0].max(longest);
        Self { widths, separator: separator.to_owned() }
    }

    /// The line of headings.
    pub fn header(&self) -> String {
        self.line(HEADINGS.map(str::to_owned).as_slice())
    }

    /// The line of one result: its numbers, or its name and what became of it.
    pub fn row(&self, row: &Row) -> String {
        let name = visible(&row.name()).into_owned();
        if !row.is_ok() {
            return self.line(&[name, visible(&row.outcome()).into_owned()]);
        }
        let [avg_fwd, std_fwd, info_fwd, est_fwd, ci_fwd] = cells(row.forward.as_ref());
        let [avg_bwd, std_bwd, info_bwd, est_bwd, ci_bwd] = cells(row.backward.as_ref());
        let unit = "ms".to_owned();
        let processes = row.forward.as_ref().map_or_else(|| NONE.to_owned(), |phase| phase.n_processes.to_string());
        let warmup = row.warmup_class.as_deref().map_or_else(|| NONE.to_owned(), |class| visible(class).into_owned());
        let peak = row.peak_memory_bytes.map_or_else(|| NONE.to_owned(), show_mebibytes);
        self.line(&[
            name, avg_fwd, std_fwd, info_fwd, avg_bwd, std_bwd, info_bwd, unit, est_fwd, ci_fwd, est_bwd, ci_bwd,
            processes, warmup, peak,
        ])
    }

    fn line(&self, fields: &[String]) -> String {
        let padded = fields.iter().zip(self.widths).map(|(field, width)| pad(field, width, Align::Right));
        padded.collect::<Vec<_>>().join(&self.separator).trim_end().to_owned()
    }
}

/// Mean, standard deviation, number of samples, estimate and its interval.
fn cells(phase: Option<&Phase>) -> [String; 5] {
    let none = || NONE.to_owned();
    let Some(phase) = phase else {
        return [none(), none(), none(), none(), none()];
    };
    // Two dots and a colon, not a comma or a space, keep an interval one field under any usual separator.
    let mark = if phase.is_range() { "range:" } else { "" };
    let interval = match (phase.ci_low_ns, phase.ci_high_ns) {
        (Some(low), Some(high)) => format!("{mark}{}..{}", show_milliseconds(low), show_milliseconds(high)),
        _ => none(),
    };
    [
        show_milliseconds(phase.mean_ns),
        phase.stddev_ns.map_or_else(none, show_milliseconds),
        format!("n={}", phase.n_samples),
        show_milliseconds(phase.estimate_ns),
        interval,
    ]
}

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    let names: Vec<String> = run.results.iter().map(Row::name).collect();
    let table = Table::new(names.iter().map(String::as_str), " ");
    let mut lines = vec![table.header()];
    lines.extend(run.results.iter().map(|row| table.row(row)));
    lines.extend(run.notes().into_iter().map(|(name, note)| format!("note: {}: {}", visible(&name), visible(note))));
    if let Some(sweep) = run.sweep {
        lines.push(String::new());
        lines.extend(sweep.lines());
    }
    Ok(lines.join("\n") + "\n")
}
