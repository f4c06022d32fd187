//! Makes a summary of a trace. All numbers of a report come from here.

mod counting;
mod figures;
mod inductor;
mod kernels;
mod memory;
mod select;
mod sweep;

use super::categories::Categories;
use super::{ApiRow, Summary, Trace};
use crate::par;
use figures::{Groups, Measure};
pub use inductor::Benchmark;
use select::Chosen;
pub use select::Selection;

/// Below so many entries a thread takes longer to start than it saves.
const WORTH_THREADS: u64 = 50_000;

/// How a trace is to be summarised.
#[derive(Debug)]
pub struct Options<'a> {
    /// What is to be counted.
    pub selection: Selection,
    /// Whether kernels have a row for each name, grid and block over all devices, not for each name and device.
    pub by_shape: bool,
    /// What sorts kernels.
    pub categories: &'a Categories,
    /// For Inductor's view, which is left out without it.
    pub inductor: Option<Benchmark>,
}

/// The summary of `trace`.
pub fn summarize(trace: &Trace, options: &Options<'_>) -> Summary {
    let chosen = Chosen::new(trace, &options.selection);
    let apart = trace.kernels.len() + trace.calls.len() >= WORTH_THREADS;
    let (timelines, (mut kernels, api_calls)) = par::join(
        apart,
        || sweep::timelines(trace, &chosen),
        || par::join(apart, || kernels::rows(trace, &chosen, options), || calls(trace, &chosen)),
    );
    kernels::add_span_fractions(&mut kernels, &timelines.spans());
    Summary {
        schema: "fastrnns-rs/summary",
        schema_version: "1.0",
        warnings: trace.warnings.clone(),
        captures: trace.captures.clone(),
        categories: kernels::categories(&kernels),
        devices: timelines.devices(),
        streams: timelines.streams(),
        memory_operations: memory::rows(trace, &chosen),
        api_calls,
        kernels,
        ranges: None,
        iterations: None,
        launches: None,
        idle_causes: None,
        inductor: options.inductor.as_ref().map(|benchmark| inductor::view(trace, &chosen, benchmark)),
    }
}

/// A row for each function that was called.
fn calls(trace: &Trace, chosen: &Chosen<'_>) -> Vec<ApiRow> {
    let mut groups = Groups::default();
    let callees = trace.callees.all().iter().enumerate();
    let of = callees.map(|(what, callee)| chosen.callees[what].then(|| groups.of(callee.name))).collect::<Vec<_>>();
    let figures = groups.figures(&trace.calls, &of, Measure::Duration, |entry| chosen.call(entry));
    let mut rows: Vec<ApiRow> = groups
        .keys()
        .zip(figures)
        .filter_map(|(&name, figures)| {
            Some(ApiRow {
                name: trace.names.text(name).to_owned(),
                count: figures.count,
                total_ns: figures.total,
                mean_ns: figures.mean?,
                median_ns: figures.median?,
                min_ns: figures.min?,
                max_ns: figures.max?,
                stddev_ns: figures.stddev,
            })
        })
        .collect();
    rows.sort_by(|one, other| other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name)));
    rows
}

/// `part / whole`; `None` where there is no whole.
fn fraction(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
