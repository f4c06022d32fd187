//! A comment for a pull request. Texts stand in code spans, where nothing is markup, a mention or a link.

use super::document::{Comparison, Difference, Kind, Measured, Phase, Row, Verdict, Warning};
use super::escape::{code_cell, code_span};
use super::markdown_kernels;
use super::words::{self, Note, UNKNOWN};
use crate::error::Result;
use crate::units::{show_milliseconds, show_percent};

/// By this a later comment finds the one that it replaces.
const MARKER: &str = "<!-- fastrnns-rs comparison -->";

pub(super) fn render(document: &str) -> Result<String> {
    let comparison = Comparison::parse(document)?;
    let labels = [&comparison.baseline.label, &comparison.candidate.label].map(|label| code_span(label));
    let mut blocks = vec![format!("{MARKER}\n{}\n", headline(&comparison)), format!("{}\n", labels.join(" → "))];
    if comparison.kind == Kind::Capture {
        blocks.extend(markdown_kernels::blocks(&comparison));
    } else if comparison.rows.is_empty() {
        blocks.push("Nothing to compare.\n".to_owned());
    } else {
        blocks.push(table(&comparison));
        blocks.push(comparison.rows.iter().flat_map(notes).collect());
    }
    let differences = &comparison.environment_differences;
    blocks.push(details(differences.len(), ("environment difference", "environment differences"), || {
        let lines: String = differences.iter().map(difference).collect();
        format!("| key | baseline | candidate |\n|---|---|---|\n{lines}")
    }));
    let warnings = &comparison.warnings;
    blocks.push(details(warnings.len(), ("warning", "warnings"), || warnings.iter().flat_map(warning).collect()));
    blocks.push(fold("method", &method(&comparison)));
    blocks.retain(|block| !block.is_empty());
    Ok(blocks.join("\n"))
}

fn headline(comparison: &Comparison) -> String {
    let forced = if comparison.method.forced { format!("{}. ", words::FORCED) } else { String::new() };
    let mean = comparison.geometric_mean.as_ref();
    let mean = mean.map(|mean| format!("; geometric mean {}", words::mean_with_interval(mean))).unwrap_or_default();
    format!("### {forced}{}{mean}", words::counts(&comparison.counts))
}

fn table(comparison: &Comparison) -> String {
    let interval = words::interval_heading(comparison);
    let headings = format!(
        "| runner | phase | baseline, ms | candidate, ms | ratio [{interval}] | change, % | Cliff's delta | processes \
         | verdict |\n|---|---|---:|---:|---:|---:|---:|---:|---|\n"
    );
    let rows = comparison.rows.iter().map(row);
    let mean = comparison.geometric_mean.as_ref().map(|mean| {
        let (ratio, change) = (words::mean_with_interval(mean), words::change(Some(mean.ratio)));
        format!("| geometric mean of {} | | | | {ratio} | {change} | | | |\n", mean.n)
    });
    std::iter::once(headings).chain(rows).chain(mean).collect()
}

fn row(row: &Row) -> String {
    let estimate = |side: &Option<Measured>| {
        side.as_ref().map_or_else(|| UNKNOWN.to_owned(), |side| show_milliseconds(side.estimate_ns))
    };
    let verdict = words::verdict(row.verdict);
    let decided = matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower));
    let cells = [
        code_cell(&row.title()),
        row.phase.map_or(UNKNOWN, Phase::word).to_owned(),
        estimate(&row.baseline),
        estimate(&row.candidate),
        words::ratio_with_interval(row),
        words::change(row.ratio),
        words::delta(row.cliffs_delta),
        words::processes(row),
        if decided { format!("**{verdict}**") } else { verdict.to_owned() },
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn notes(row: &Row) -> impl Iterator<Item = String> {
    let name = code_span(&row.name());
    words::notes(row).into_iter().map(move |note| match note {
        Note::Told(told) => format!("- {name}: {}\n", code_span(told)),
        Note::Ours(ours) => format!("- {name}: {ours}\n"),
    })
}

fn difference(difference: &Difference) -> String {
    let value = |value| code_cell(&words::value(value));
    format!("| {} | {} | {} |\n", code_cell(&difference.key), value(&difference.baseline), value(&difference.candidate))
}

fn warning(warning: &Warning) -> impl Iterator<Item = String> {
    words::warning(warning).map(|(label, said)| match label {
        "warning" => format!("- {}\n", code_span(said)),
        label => format!("  - {label}: {}\n", code_span(said)),
    })
}

fn method(comparison: &Comparison) -> String {
    let method = &comparison.method;
    format!(
        "{}, margin {}, {}s, false discovery rate {}. The ratio is the candidate's time over the baseline's: above 1 is \
         slower.\n",
        code_span(&method.name),
        words::margin(method),
        words::interval_heading(comparison),
        show_percent(method.false_discovery_rate),
    )
}

/// So many of something, folded away; nothing where there are none.
fn details(count: usize, (one, several): (&str, &str), text: impl FnOnce() -> String) -> String {
    match count {
        0 => String::new(),
        1 => fold(&format!("1 {one}"), &text()),
        _ => fold(&format!("{count} {several}"), &text()),
    }
}

/// Markdown inside HTML needs the empty lines.
fn fold(summary: &str, text: &str) -> String {
    format!("<details>\n<summary>{summary}</summary>\n\n{text}\n</details>\n")
}
