//! `--print-json oss` of fastrnns: one object, `{group: {runner: mean}}`, backward under `group-backward`, in milliseconds.

use serde_json::Value;

use super::escape;
use super::run::{Row, Run};
use crate::error::Result;
use crate::units::{milliseconds, python_repr};

pub(super) fn render(document: &str) -> Result<String> {
    let run = Run::parse(document)?;
    let groups = run.groups().into_iter().flat_map(|(name, rows)| {
        let means = |phase: &'static str| means(&rows, phase);
        [(name.to_owned(), means("forward")), (format!("{name}-backward"), means("backward"))]
    });
    let text = object(groups.map(|(name, means)| (name, object(means))));
    Ok(escape::json(&text) + "\n")
}

fn means(rows: &[&Row], wanted: &str) -> Vec<(String, String)> {
    let measured = rows.iter().filter(|row| row.is_ok());
    measured
        .flat_map(|row| row.phases().map(|(name, phase)| (row.name(), name, phase)))
        .filter(|(_, name, _)| *name == wanted)
        .map(|(runner, _, phase)| (runner, python_repr(milliseconds(phase.mean_ns))))
        .collect()
}

/// With the spaces that Python's `json.dumps` puts, for scripts that compare text.
fn object(entries: impl IntoIterator<Item = (String, String)>) -> String {
    let entries = entries.into_iter().map(|(key, value)| format!("{}: {value}", Value::from(key)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}
