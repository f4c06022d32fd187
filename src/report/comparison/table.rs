//! Aligned columns for a terminal, with what a reader must know above them and what explains them below.

use super::align::{Align, pad, width};
use super::document::{Comparison, Difference, GeometricMean, Kind, Measured, Phase, Row, Warning};
use super::escape::visible;
use super::table_kernels;
use super::words::{self, Note, UNKNOWN};
use crate::error::Result;
use crate::units::{show_milliseconds, show_percent};

/// Between two columns.
const GAP: &str = "  ";
const COLUMNS: usize = 10;
/// Names and words are read from the left, figures from the right.
const ALIGNS: [Align; COLUMNS] = [
    Align::Left,
    Align::Left,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Left,
];

type Line = [String; COLUMNS];

pub(super) fn render(document: &str) -> Result<String> {
    let comparison = Comparison::parse(document)?;
    let mut blocks = vec![head(&comparison)];
    if comparison.kind == Kind::Capture {
        blocks.extend(table_kernels::blocks(&comparison));
    } else if comparison.rows.is_empty() {
        blocks.push("nothing to compare\n".to_owned());
    } else {
        blocks.push(rows(&comparison));
        blocks.push(comparison.rows.iter().flat_map(notes).collect());
        blocks.push(format!("{}\n", words::counts(&comparison.counts)));
    }
    if !comparison.environment_differences.is_empty() {
        let differences = comparison.environment_differences.iter().map(difference);
        blocks.push(std::iter::once("Environment differences\n".to_owned()).chain(differences).collect());
    }
    blocks.push(comparison.warnings.iter().flat_map(warning).collect());
    blocks.retain(|block| !block.is_empty());
    Ok(blocks.join("\n"))
}

fn head(comparison: &Comparison) -> String {
    let method = &comparison.method;
    let forced = if method.forced { format!("{}\n", words::FORCED) } else { String::new() };
    format!(
        "{forced}{} → {}\n{}, margin {}, {}s, false discovery rate {}\n",
        text(&comparison.baseline.label),
        text(&comparison.candidate.label),
        text(&method.name),
        words::margin(method),
        words::interval_heading(comparison),
        show_percent(method.false_discovery_rate),
    )
}

fn rows(comparison: &Comparison) -> String {
    let interval = words::interval_heading(comparison);
    let headings = [
        "runner",
        "phase",
        "baseline, ms",
        "candidate, ms",
        "ratio",
        &interval,
        "change, %",
        "Cliff's delta",
        "processes",
        "verdict",
    ];
    let mut lines = vec![headings.map(str::to_owned)];
    lines.extend(comparison.rows.iter().map(row));
    lines.extend(comparison.geometric_mean.as_ref().map(mean));
    let column = |index: usize| lines.iter().map(|line| width(&line[index])).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(column);
    let draw = |line: &Line| {
        let cells: Vec<_> =
            line.iter().zip(widths).zip(ALIGNS).map(|((cell, width), align)| pad(cell, width, align)).collect();
        format!("{}\n", cells.join(GAP).trim_end())
    };
    lines.iter().map(draw).collect()
}

fn row(row: &Row) -> Line {
    let estimate = |side: &Option<Measured>| {
        side.as_ref().map_or_else(|| UNKNOWN.to_owned(), |side| show_milliseconds(side.estimate_ns))
    };
    [
        text(&row.title()),
        row.phase.map_or(UNKNOWN, Phase::word).to_owned(),
        estimate(&row.baseline),
        estimate(&row.candidate),
        words::ratio(row.ratio),
        words::interval(row.ratio_ci_low, row.ratio_ci_high),
        words::change(row.ratio),
        words::delta(row.cliffs_delta),
        words::processes(row),
        words::verdict(row.verdict).to_owned(),
    ]
}

fn mean(mean: &GeometricMean) -> Line {
    let mut line: Line = std::array::from_fn(|_| String::new());
    line[0] = format!("geometric mean of {}", mean.n);
    line[4] = words::ratio(Some(mean.ratio));
    line[5] = words::interval(mean.ratio_ci_low, mean.ratio_ci_high);
    line[6] = words::change(Some(mean.ratio));
    line
}

fn notes(row: &Row) -> impl Iterator<Item = String> {
    let name = text(&row.name());
    words::notes(row).into_iter().map(move |note| match note {
        Note::Told(told) => format!("{name}: {}\n", text(told)),
        Note::Ours(ours) => format!("{name}: {ours}\n"),
    })
}

fn difference(difference: &Difference) -> String {
    let value = |value| visible(&words::value(value)).into_owned();
    format!("{GAP}{}: {} → {}\n", text(&difference.key), value(&difference.baseline), value(&difference.candidate))
}

fn warning(warning: &Warning) -> impl Iterator<Item = String> {
    words::warning(warning).map(|(label, said)| {
        let indent = if label == "warning" { "" } else { GAP };
        format!("{indent}{label}: {}\n", text(said))
    })
}

fn text(text: &str) -> String {
    if text.is_empty() { "\"\"".to_owned() } else { visible(text).into_owned() }
}
