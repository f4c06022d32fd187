//! A table for an issue or a README: estimates in milliseconds with their intervals. Names and reasons stand in code
//! spans, where nothing is markup, a mention or a link.

use super::escape::{code_cell, code_span};
use super::run::{Phase, Row, Run};
use super::sweep::Sweep;
use crate::error::Result;
use crate::units::{show_mebibytes, show_milliseconds};

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    // Only CUDA's allocator reserves.
    let reserves = run.results.iter().any(|row| row.peak_reserved_bytes.is_some());
    let (heading, rule) = if reserves { (" reserved, MiB |", "---:|") } else { ("", "") };
    let headings =
        "| runner | forward, ms (95 % interval) | backward, ms (95 % interval) | processes | samples | peak, MiB |";
    let mut lines = vec![format!("{headings}{heading}"), format!("|---|---:|---:|---:|---:|---:|{rule}")];
    lines.extend(run.results.iter().map(|row| line(row, reserves)));
    let note = |(name, note): (String, &str)| format!("- {}: {}", code_span(&name), code_span(note));
    let notes: Vec<String> = run.notes().into_iter().map(note).collect();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines.extend(run.sweep.iter().flat_map(Sweep::markdown));
    Ok(lines.join("\n") + "\n")
}

fn line(row: &Row, reserves: bool) -> String {
    let name = code_cell(&row.name());
    if !row.is_ok() {
        let rest = if reserves { " | | | | | |" } else { " | | | | |" };
        return format!("| {name} | {}{rest}", code_cell(&row.outcome()));
    }
    let (processes, samples) = row.forward.as_ref().map_or((0, 0), |phase| (phase.n_processes, phase.n_samples));
    let [forward, backward] = [&row.forward, &row.backward].map(|phase| cell(phase.as_ref()));
    let mebibytes = |bytes: Option<u64>| bytes.map_or_else(|| "–".to_owned(), show_mebibytes);
    let peak = mebibytes(row.peak_memory_bytes);
    let reserved = if reserves { format!(" {} |", mebibytes(row.peak_reserved_bytes)) } else { String::new() };
    format!("| {name} | {forward} | {backward} | {processes} | {samples} | {peak} |{reserved}")
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
