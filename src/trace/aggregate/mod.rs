//! Makes a summary of a trace. All numbers of a report come from here.

mod activity;
mod calls;
mod counting;
mod coverage;
mod cudnn_rnn;
mod duplicates;
mod figures;
mod histogram;
mod idle;
mod in_order;
mod inductor;
mod iterations;
mod kernels;
mod launched;
mod launches;
#[cfg(test)]
mod made;
mod memory;
mod operators;
mod quantiles;
mod ranges;
mod ranks;
mod repeats;
mod select;
mod shared_devices;
mod stacks;
mod sweep;
mod timeline;
mod totals;
mod waits;
mod walk;
mod windows;
mod work_categories;

use super::categories::Categories;
use super::{ApiRow, LeftOut, Summary, Trace};
use crate::error::words;
use crate::memory::{collected, probe};
use crate::par;
use figures::{Groups, Measure};
pub use idle::Piece;
pub use inductor::Benchmark;
pub use repeats::{RepeatedIteration, RepeatedRow, Repeats, repeats};
use select::Chosen;
pub use select::Selection;
pub use timeline::Timeline;
use walk::Walked;
use work_categories::WorkCategories;

/// Below so many entries a thread takes longer to start than it saves.
const WORTH_THREADS: u64 = 50_000;

words! {
    /// Grouping of kernel rows.
    pub enum KernelsBy {
        /// Each name on each device.
        Device = "device",
        /// Each name, over all devices.
        Name = "name",
        /// Each name with each grid and block, over all devices.
        Shape = "shape",
    }
}

/// Options of a summary.
#[derive(Debug)]
pub struct Options<'a> {
    /// Selection of events.
    pub selection: Selection,
    /// Grouping of kernel rows.
    pub kernels_by: KernelsBy,
    /// Categories of kernels.
    pub categories: &'a Categories,
    /// For Inductor's view, which is left out without it.
    pub inductor: Option<Benchmark>,
    /// Name of ranges that mark iterations, instead of our ranges and of `ProfilerStep#N`.
    pub iteration_range: Option<String>,
    /// Texts in the names of ranges in which a thread waits for data, in addition to torch's own.
    pub data_loaders: Vec<String>,
    /// Number of steps of a sequence, if known.
    pub sequence_length: Option<u64>,
    /// True for the parts that only plots show: activity over time, histograms of delays and nested ranges.
    pub plot_data: bool,
}

impl<'a> Options<'a> {
    /// Makes options with which everything counts.
    pub fn new(categories: &'a Categories) -> Self {
        Self {
            selection: Selection::default(),
            kernels_by: KernelsBy::Device,
            categories,
            inductor: None,
            iteration_range: None,
            data_loaders: Vec::new(),
            sequence_length: None,
            plot_data: false,
        }
    }
}

/// The summary of `trace`.
pub fn summarize(trace: &Trace, options: &Options<'_>) -> Summary {
    let chosen = Chosen::new(trace, &options.selection);
    let categories = WorkCategories::new(trace, options.categories);
    let apart = trace.kernels.len() + trace.calls.len() >= WORTH_THREADS;
    let (walked, (mut kernels, api_calls)) = par::join(
        apart,
        || Walked::over(trace, &chosen, &categories, options),
        || {
            // The walk needs their index as soon as it has put operations in order.
            chosen.calls();
            (kernels::rows(trace, &chosen, options, &categories), calls(trace, &chosen))
        },
    );
    let Walked { sweep, delays, idle, mut ranges, iterations, cudnn_rnn, ranks, duplicates } = walked;
    let (devices, numbers) = sweep.devices(&categories, &idle);
    kernels::place(&mut kernels, &numbers);
    let ((ranks, about_ranks), nested_ranges) = (ranks.rows(), ranges.nested());
    let warnings = trace.warnings.iter().cloned().chain(LeftOut::warning(&trace.left_out));
    let warnings = warnings.chain(totals::warning(trace, &chosen));
    let (launches, idle_causes) = (delays.figures(), idle.rows(&numbers));
    let warnings = warnings.chain(iterations.warning.clone()).chain(about_ranks);
    let warnings =
        warnings.chain(sweep.shared_devices()).chain(duplicates.warning()).chain(launches::clock_warning(&launches));
    let warnings = warnings.chain(launches::warning(&launches, &idle_causes));
    let warnings = warnings.chain(stacks::warning(&trace.captures, &devices, &idle_causes));
    Summary {
        schema: "fastrnns-rs/summary",
        schema_version: "1.3",
        warnings: warnings.collect(),
        captures: trace.captures.clone(),
        categories: kernels::categories(&kernels),
        devices,
        streams: sweep.streams(&numbers),
        memory_operations: memory::rows(trace, &chosen, &numbers),
        api_calls,
        cpu_operators: operators::rows(trace, &chosen),
        nested_ranges,
        ranges: ranges.rows(),
        iteration_statistics: iterations.statistics(),
        launches,
        idle_causes,
        cudnn_rnn: cudnn_rnn.rows(&iterations.rows, options.sequence_length),
        ranks,
        metrics: totals::metrics(trace, &chosen),
        iterations: iterations.rows,
        kernels,
        inductor: options.inductor.as_ref().map(|benchmark| inductor::view(trace, &chosen, benchmark)),
    }
}

/// A row for each function that was called.
fn calls(trace: &Trace, chosen: &Chosen<'_>) -> Vec<ApiRow> {
    let mut groups = Groups::default();
    let callees = trace.callees.all().iter().enumerate();
    let of = collected(callees.map(|(what, callee)| chosen.callees[what].then(|| groups.of(callee.name))));
    let figures = groups.figures(&trace.calls, &of, Measure::Duration, |entry| chosen.call(entry));
    let mut rows: Vec<ApiRow> = (groups.keys().copied().zip(figures))
        .chain(totals::calls(trace, chosen))
        .filter_map(|(name, figures)| {
            Some(ApiRow {
                name: trace.names.text(name).to_owned(),
                count: figures.count,
                total_ns: figures.total,
                mean_ns: figures.mean?,
                median_ns: figures.median,
                min_ns: figures.min?,
                max_ns: figures.max?,
                stddev_ns: figures.stddev,
            })
        })
        .collect();
    probe(size_of_val(rows.as_slice()));
    rows.sort_by(|one, other| other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name)));
    rows
}

/// `part / whole`; `None` where there is no whole.
fn fraction(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
