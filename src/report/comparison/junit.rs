//! JUnit's XML, as build servers read it: a row is a test case, and a slower one has failed.

use super::document::{Comparison, Verdict};
use super::escape::xml;
use super::junit_cases::{Case, Property, known};
use super::words;
use crate::error::Result;
use crate::units::python_repr;

pub(super) fn render(document: &str) -> Result<String> {
    let comparison = Comparison::parse(document)?;
    let cases = Case::all(&comparison);
    let count = |wanted: &str| cases.iter().filter(|case| case.element() == Some(wanted)).count();
    let suite = element_start(
        "testsuite",
        &[
            ("name", &suite_name(&comparison)),
            ("tests", &cases.len().to_string()),
            ("failures", &count("failure").to_string()),
            ("errors", &count("error").to_string()),
            ("skipped", &count("skipped").to_string()),
        ],
    );
    let about = properties("    ", &about(&comparison));
    let cases: String = cases.iter().map(case).collect();
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  {suite}>\n{about}{cases}  </testsuite>\n</testsuites>\n"
    ))
}

fn suite_name(comparison: &Comparison) -> String {
    let forced = if comparison.method.forced { format!("{}: ", words::FORCED) } else { String::new() };
    format!("{forced}{} → {}", comparison.baseline.label, comparison.candidate.label)
}

fn case(case: &Case) -> String {
    let mut attributes = vec![("classname", case.classname.as_str()), ("name", case.name.as_str())];
    attributes.extend(case.seconds.as_deref().map(|seconds| ("time", seconds)));
    let outcome = case.element().map(|element| outcome(case, element)).unwrap_or_default();
    format!(
        "    {}>\n{}{outcome}    </testcase>\n",
        element_start("testcase", &attributes),
        properties("      ", &case.properties)
    )
}

fn outcome(case: &Case, element: &str) -> String {
    let message = ("message", case.message.as_str());
    let start = match element {
        "skipped" => element_start(element, &[message]),
        "error" => element_start(element, &[message, ("type", "failed")]),
        _ => element_start(element, &[message, ("type", case.verdict.map_or("no verdict", Verdict::word))]),
    };
    match &case.reason {
        Some(reason) if !reason.is_empty() => format!("      {start}>{}</{element}>\n", xml(reason)),
        _ => format!("      {start}/>\n"),
    }
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
