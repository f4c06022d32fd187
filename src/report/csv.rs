//! A line for each runner and phase. A runner that failed has one line, with its reason and no numbers.

use csv::Writer;
use serde_json::Value;

use super::escape;
use super::run::{Phase, Row, Run};
use crate::error::Result;

const BEFORE: [&str; 5] = ["runner", "group", "phase", "status", "reason"];
const NUMBERS: [&str; 15] = [
    "n_processes",
    "n_samples",
    "estimate_ns",
    "ci_low_ns",
    "ci_high_ns",
    "mean_ns",
    "stddev_ns",
    "min_ns",
    "max_ns",
    "median_ns",
    "q1_ns",
    "q3_ns",
    "p95_ns",
    "p99_ns",
    "mad_ns",
];
/// What later versions of the run file brought stands last, so that a column keeps its place.
const LAST: [&str; 5] = ["ci_method", "warmup_class", "side", "peak_memory_bytes", "peak_reserved_bytes"];

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    let problem: Vec<&str> =
        run.results.first().map(|row| row.problem.keys().map(String::as_str).collect()).unwrap_or_default();
    let mut lines: Vec<Vec<String>> = vec![
        BEFORE
            .iter()
            .chain(&problem)
            .chain(&NUMBERS)
            .chain(&LAST)
            .map(|&heading| escape::spreadsheet(heading))
            .collect(),
    ];
    for row in &run.results {
        let phases: Vec<_> = row.phases().map(|(name, phase)| (name, Some(phase))).collect();
        let phases = if phases.is_empty() { vec![("", None)] } else { phases };
        lines.extend(phases.into_iter().map(|(name, phase)| line(row, &problem, name, phase)));
    }
    Ok(write(&lines))
}

fn line(row: &Row, problem: &[&str], name: &str, phase: Option<&Phase>) -> Vec<String> {
    let text = |text: Option<&String>| text.map(|text| escape::spreadsheet(text)).unwrap_or_default();
    let mut fields = vec![
        text(Some(&row.runner)),
        text(Some(&row.group)),
        name.to_owned(),
        text(Some(&row.status)),
        text(row.reason.as_ref()),
    ];
    fields.extend(problem.iter().map(|&key| match row.problem.get(key) {
        None | Some(Value::Null) => String::new(),
        // A number below 0 is no formula.
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(told)) => escape::spreadsheet(told),
        Some(other) => escape::spreadsheet(&other.to_string()),
    }));
    match phase {
        Some(phase) => fields.extend(numbers(phase)),
        None => fields.extend(NUMBERS.map(|_| String::new())),
    }
    fields.push(text(phase.and_then(|phase| phase.ci_method.as_ref())));
    fields.push(text(row.warmup_class.as_ref()));
    fields.push(text(row.side.as_ref()));
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
    fields.extend([row.peak_memory_bytes, row.peak_reserved_bytes].map(bytes));
    fields
}

fn numbers(phase: &Phase) -> [String; 15] {
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        phase.n_processes.to_string(),
        phase.n_samples.to_string(),
        phase.estimate_ns.to_string(),
        optional(phase.ci_low_ns),
        optional(phase.ci_high_ns),
        phase.mean_ns.to_string(),
        optional(phase.stddev_ns),
        phase.min_ns.to_string(),
        phase.max_ns.to_string(),
        phase.median_ns.to_string(),
        phase.q1_ns.to_string(),
        phase.q3_ns.to_string(),
        phase.p95_ns.to_string(),
        phase.p99_ns.to_string(),
        phase.mad_ns.to_string(),
    ]
}

fn write(lines: &[Vec<String>]) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and every line has as many fields as the first.
    let written = lines.iter().try_for_each(|line| writer.write_record(line));
    let bytes = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
