//! A table for an issue or a README: medians in milliseconds with their intervals.

use super::run::{Phase, Row, Run};
use crate::error::Result;
use crate::units::show_milliseconds;

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    let mut lines = vec![
        "| runner | forward, ms (95 % interval) | backward, ms (95 % interval) | samples |".to_owned(),
        "|---|---:|---:|---:|".to_owned(),
    ];
    lines.extend(run.results.iter().map(line));
    let notes: Vec<String> = run
        .results
        .iter()
        .filter_map(|row| row.note.as_ref().map(|note| format!("- `{}`: {}", row.runner, escape(note))))
        .collect();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    Ok(lines.join("\n") + "\n")
}

fn line(row: &Row) -> String {
    if !row.is_ok() {
        return format!("| {} | {} | | |", escape(&row.runner), escape(&row.outcome()));
    }
    let samples = row.forward.as_ref().map_or(0, |phase| phase.n_samples);
    format!(
        "| {} | {} | {} | {samples} |",
        escape(&row.runner),
        cell(row.forward.as_ref()),
        cell(row.backward.as_ref())
    )
}

fn cell(phase: Option<&Phase>) -> String {
    let Some(phase) = phase else {
        return "–".to_owned();
    };
    let estimate = show_milliseconds(phase.estimate_ns);
    match (phase.ci_low_ns, phase.ci_high_ns) {
        (Some(low), Some(high)) => format!("{estimate} ({} – {})", show_milliseconds(low), show_milliseconds(high)),
        _ => estimate,
    }
}

/// A reason may hold anything that a runner printed.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', " ")
}
