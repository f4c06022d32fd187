//! A table for an issue or a README: estimates in milliseconds with their intervals. Names and reasons stand in code
//! spans, where nothing is markup, a mention or a link.

use super::escape::{code_cell, code_span};
use super::run::{Phase, Row, Run};
use crate::error::Result;
use crate::units::show_milliseconds;

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    let mut lines = vec![
        "| runner | forward, ms (95 % interval) | backward, ms (95 % interval) | processes | samples |".to_owned(),
        "|---|---:|---:|---:|---:|".to_owned(),
    ];
    lines.extend(run.results.iter().map(line));
    let notes: Vec<String> = run
        .results
        .iter()
        .filter_map(|row| row.note.as_ref().map(|note| format!("- {}: {}", code_span(&row.name()), code_span(note))))
        .collect();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    Ok(lines.join("\n") + "\n")
}

fn line(row: &Row) -> String {
    let name = code_cell(&row.name());
    if !row.is_ok() {
        return format!("| {name} | {} | | | |", code_cell(&row.outcome()));
    }
    let (processes, samples) = row.forward.as_ref().map_or((0, 0), |phase| (phase.n_processes, phase.n_samples));
    let [forward, backward] = [&row.forward, &row.backward].map(|phase| cell(phase.as_ref()));
    format!("| {name} | {forward} | {backward} | {processes} | {samples} |")
}

fn cell(phase: Option<&Phase>) -> String {
    let Some(phase) = phase else {
        return "–".to_owned();
    };
    let estimate = show_milliseconds(phase.estimate_ns);
    let mark = if phase.is_range() { "range " } else { "" };
    match (phase.ci_low_ns, phase.ci_high_ns) {
        (Some(low), Some(high)) => {
            format!("{estimate} ({mark}{} – {})", show_milliseconds(low), show_milliseconds(high))
        }
        _ => estimate,
    }
}
