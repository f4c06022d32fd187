//! JUnit's XML, as build servers read it: a row is a test case, and a slower one has failed.

use super::document::{Comparison, Measured, Row, Verdict};
use super::escape::xml;
use super::words::{self, Note};
use crate::error::Result;
use crate::units::python_repr;

const NS_PER_S: f64 = 1e9;

/// A name and a value, escaped when it is written.
type Property = (String, String);

pub(super) fn render(document: &str) -> Result<String> {
    let comparison = Comparison::parse(document)?;
    let count = |wanted: &str| comparison.rows.iter().filter(|row| element(row) == Some(wanted)).count();
    let suite = element_start(
        "testsuite",
        &[
            ("name", &suite_name(&comparison)),
            ("tests", &comparison.rows.len().to_string()),
            ("failures", &count("failure").to_string()),
            ("errors", &count("error").to_string()),
            ("skipped", &count("skipped").to_string()),
        ],
    );
    let about = properties("    ", &about(&comparison));
    let cases: String = comparison.rows.iter().map(|row| case(row, &comparison)).collect();
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  {suite}>\n{about}{cases}  </testsuite>\n</testsuites>\n"
    ))
}

fn suite_name(comparison: &Comparison) -> String {
    let forced = if comparison.method.forced { format!("{}: ", words::FORCED) } else { String::new() };
    format!("{forced}{} → {}", comparison.baseline.label, comparison.candidate.label)
}

/// What says how a row ended; a row without one has passed.
fn element(row: &Row) -> Option<&'static str> {
    match row.verdict {
        Some(Verdict::Faster | Verdict::Equivalent) => None,
        Some(Verdict::Slower) => Some("failure"),
        None if row.failed() => Some("error"),
        Some(Verdict::Inconclusive) | None => Some("skipped"),
    }
}

fn case(row: &Row, comparison: &Comparison) -> String {
    let name = row.name();
    let group = row.group.as_ref().unwrap_or(&row.runner);
    let seconds = row.candidate.as_ref().map(|side| (side.estimate_ns / NS_PER_S).to_string());
    let mut attributes = vec![("classname", group.as_str()), ("name", name.as_str())];
    attributes.extend(seconds.as_deref().map(|seconds| ("time", seconds)));
    let outcome = element(row).map(|element| outcome(row, element)).unwrap_or_default();
    format!(
        "    {}>\n{}{outcome}    </testcase>\n",
        element_start("testcase", &attributes),
        properties("      ", &figures(row, comparison))
    )
}

fn outcome(row: &Row, element: &str) -> String {
    let verdict = row.verdict.map_or("no verdict", Verdict::word);
    let told = words::notes(row).into_iter().map(|note| match note {
        Note::Told(told) => told.to_owned(),
        Note::Ours(ours) => ours,
    });
    let ratio = row.ratio.map(|_| format!("{verdict}: {}", words::ratio_with_interval(row)));
    let message: Vec<_> = ratio.into_iter().chain(told).collect();
    let message = if message.is_empty() { verdict.to_owned() } else { message.join("; ") };
    let start = match element {
        "skipped" => element_start(element, &[("message", &message)]),
        "error" => element_start(element, &[("message", &message), ("type", "failed")]),
        _ => element_start(element, &[("message", &message), ("type", verdict)]),
    };
    match &row.reason {
        Some(reason) if !reason.is_empty() => format!("      {start}>{}</{element}>\n", xml(reason)),
        _ => format!("      {start}/>\n"),
    }
}

/// Every digit, for programs.
fn figures(row: &Row, comparison: &Comparison) -> Vec<Property> {
    let processes = |side: &Option<Measured>| side.as_ref().map(|side| side.n_processes.to_string());
    let number = |value: Option<f64>| value.map(python_repr);
    let pairs = [
        ("verdict", row.verdict.map(|verdict| verdict.word().to_owned())),
        ("label", row.label.clone()),
        ("ratio", number(row.ratio)),
        ("ratio_ci_low", number(row.ratio_ci_low)),
        ("ratio_ci_high", number(row.ratio_ci_high)),
        ("margin", Some(python_repr(comparison.method.margin))),
        ("cliffs_delta", number(row.cliffs_delta)),
        ("p_value_adjusted", number(row.p_value_adjusted)),
        ("baseline.estimate_ns", number(row.baseline.as_ref().map(|side| side.estimate_ns))),
        ("candidate.estimate_ns", number(row.candidate.as_ref().map(|side| side.estimate_ns))),
        ("baseline.n_processes", processes(&row.baseline)),
        ("candidate.n_processes", processes(&row.candidate)),
    ];
    known(pairs)
}

fn about(comparison: &Comparison) -> Vec<Property> {
    let method = &comparison.method;
    let mean = comparison.geometric_mean.as_ref();
    let mut all = known([
        ("forced", Some(method.forced.to_string())),
        ("baseline", Some(comparison.baseline.label.clone())),
        ("candidate", Some(comparison.candidate.label.clone())),
        ("method", Some(method.name.clone())),
        ("confidence_level", Some(python_repr(method.confidence_level))),
        ("margin", Some(python_repr(method.margin))),
        ("margin_source", Some(words::source(method.margin_source).to_owned())),
        ("false_discovery_rate", Some(python_repr(method.false_discovery_rate))),
        ("geometric_mean", mean.map(|mean| python_repr(mean.ratio))),
        ("geometric_mean_ci_low", mean.and_then(|mean| mean.ratio_ci_low).map(python_repr)),
        ("geometric_mean_ci_high", mean.and_then(|mean| mean.ratio_ci_high).map(python_repr)),
    ]);
    all.extend(comparison.environment_differences.iter().map(|difference| {
        let [baseline, candidate] = [&difference.baseline, &difference.candidate].map(words::value);
        (format!("environment.{}", difference.key), format!("{baseline} → {candidate}"))
    }));
    all.extend(
        comparison.warnings.iter().map(|warning| (format!("warning.{}", warning.code), warning.message.clone())),
    );
    all
}

fn known<const N: usize>(pairs: [(&str, Option<String>); N]) -> Vec<Property> {
    pairs.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_owned(), value))).collect()
}

fn properties(indent: &str, pairs: &[Property]) -> String {
    let lines = pairs.iter().map(|(name, value)| {
        let property = element_start("property", &[("name", name), ("value", value)]);
        format!("{indent}  {property}/>\n")
    });
    format!("{indent}<properties>\n{}{indent}</properties>\n", lines.collect::<String>())
}

/// An element up to where it is closed.
fn element_start(name: &str, attributes: &[(&str, &str)]) -> String {
    let attributes = attributes.iter().map(|(key, value)| format!(" {key}=\"{}\"", xml(value)));
    format!("<{name}{}", attributes.collect::<String>())
}
