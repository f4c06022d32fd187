//! `--print-json pep` of fastrnns: a line for each timed sample, for the observer that reads them from a log.

use serde_json::Value;

use super::escape;
use super::run::{Process, Row, Run};
use crate::error::Result;
use crate::units::{milliseconds, python_repr};

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    let mut text = String::new();
    for (group, rows) in run.groups() {
        write(&mut text, group, &rows, |process| Some(&process.forward_ns));
        write(&mut text, &format!("{group}-backward"), &rows, |process| process.backward_ns.as_ref());
    }
    Ok(text)
}

fn write(text: &mut String, group: &str, rows: &[&Row], samples: impl Fn(&Process) -> Option<&Vec<u64>>) {
    for row in rows.iter().filter(|row| row.is_ok()) {
        let metric = Value::from(format!("{group}-{}", row.name())).to_string();
        let metric = escape::json(&metric);
        let measured = row.processes.iter().filter_map(|process| samples(process).map(|all| process.steady(all)));
        for &ns in measured.flatten() {
            let value = python_repr(milliseconds(ns as f64));
            let line = format!(r#"{{"type": "NET", "metric": {metric}, "unit": "ms", "value": "{value}"}}"#);
            text.push_str("Caffe2Observer ");
            text.push_str(&line);
            text.push('\n');
        }
    }
}
