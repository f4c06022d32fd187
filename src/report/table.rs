//! The table of `bench`: the original benchmark's columns, then the unit, the medians and their intervals.

use super::run::{Phase, Row, Run};
use crate::error::Result;
use crate::units::show_milliseconds;

const HEADINGS: [&str; 12] = [
    "name",
    "avg_fwd",
    "std_fwd",
    "info_fwd",
    "avg_bwd",
    "std_bwd",
    "info_bwd",
    "unit",
    "median_fwd",
    "ci95_fwd",
    "median_bwd",
    "ci95_bwd",
];
/// Columns as wide as the original's were for names, and wide enough for an interval of two numbers.
const WIDTHS: [usize; 12] = [16, 9, 9, 9, 9, 9, 9, 4, 10, 17, 10, 17];
/// A number that does not exist: too few samples, or a runner without a backward.
const NONE: &str = "-";

/// The layout of a table whose rows may arrive one by one.
#[derive(Debug, Clone)]
pub struct Table {
    widths: [usize; 12],
    separator: String,
}

impl Table {
    /// A table wide enough for the longest of `names`, its fields parted by `separator`.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, separator: &str) -> Self {
        let mut widths = WIDTHS;
        let longest = names.into_iter().map(|name| name.chars().count()).max().unwrap_or(0);
        widths[0] = widths[0].max(longest);
        Self { widths, separator: separator.to_owned() }
    }

    /// The line of headings.
    pub fn header(&self) -> String {
        self.line(HEADINGS.map(str::to_owned).as_slice())
    }

    /// The line of one result: its numbers, or its name and what became of it.
    pub fn row(&self, row: &Row) -> String {
        if !row.is_ok() {
            return self.line(&[row.runner.clone(), row.outcome()]);
        }
        let [avg_fwd, std_fwd, info_fwd, median_fwd, ci_fwd] = cells(row.forward.as_ref());
        let [avg_bwd, std_bwd, info_bwd, median_bwd, ci_bwd] = cells(row.backward.as_ref());
        let name = row.runner.clone();
        let unit = "ms".to_owned();
        self.line(&[
            name, avg_fwd, std_fwd, info_fwd, avg_bwd, std_bwd, info_bwd, unit, median_fwd, ci_fwd, median_bwd, ci_bwd,
        ])
    }

    fn line(&self, fields: &[String]) -> String {
        let padded = fields.iter().zip(self.widths).map(|(field, width)| format!("{field:>width$}"));
        padded.collect::<Vec<_>>().join(&self.separator).trim_end().to_owned()
    }
}

/// Mean, standard deviation, number of samples, median and its interval.
fn cells(phase: Option<&Phase>) -> [String; 5] {
    let none = || NONE.to_owned();
    let Some(phase) = phase else {
        return [none(), none(), none(), none(), none()];
    };
    // Two dots, not a comma or a space, keep an interval one field under any usual separator.
    let interval = match (phase.ci_low_ns, phase.ci_high_ns) {
        (Some(low), Some(high)) => format!("{}..{}", show_milliseconds(low), show_milliseconds(high)),
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
    let table = Table::new(run.results.iter().map(|row| row.runner.as_str()), " ");
    let mut lines = vec![table.header()];
    lines.extend(run.results.iter().map(|row| table.row(row)));
    let notes =
        run.results.iter().filter_map(|row| row.note.as_ref().map(|note| format!("note: {}: {note}", row.runner)));
    lines.extend(notes);
    Ok(lines.join("\n") + "\n")
}
