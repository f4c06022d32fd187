//! The figures of `torch._inductor.wrapper_benchmark`, under its names: device time of all operations over wall time.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::select::Chosen;
use crate::trace::{Entry, Inductor, InductorCategory, InductorKernel, Kind, NameId, Trace};

/// Inductor's categories, in its order, with how the names of their kernels begin.
const CATEGORIES: [(&str, &str); 5] = [
    ("triton_pointwise", "triton_poi"),
    ("triton_reduction", "triton_red"),
    ("triton_persistent_reduction", "triton_per"),
    ("triton_unknown", "triton_"),
    ("unknown", ""),
];

/// Values of Inductor's benchmark that a capture does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Start of the line for tabulating.
    pub name: String,
    /// Duration of one run without a profiler.
    pub wall_time_ns: f64,
    /// Number of runs in the capture.
    pub runs: u64,
}

/// A kernel, with when it first ran: where two start at once, the longer one came first to torch.
struct Found {
    kernel: InductorKernel,
    first: (i64, Reverse<i64>),
}

/// Inductor's view. Copies and sets are kernels to it, and times of kernels that run at once are added up.
///
/// Sums are of floats, in Inductor's order: its text says the same to the last digit then.
pub(super) fn view(trace: &Trace, chosen: &Chosen<'_>, benchmark: &Benchmark) -> Inductor {
    let mut categories = CATEGORIES.map(|(name, _)| InductorCategory {
        name: name.to_owned(),
        count: 0,
        total_ns: 0,
        kernels: Vec::new(),
    });
    for Found { kernel, .. } in kernels(trace, chosen) {
        // The last takes everything.
        let place = CATEGORIES.iter().position(|(_, start)| kernel.name.starts_with(start)).unwrap_or(4);
        let category = &mut categories[place];
        category.count += kernel.count;
        category.total_ns = category.total_ns.saturating_add(kernel.total_ns);
        category.kernels.push(kernel);
    }
    let wall_ms = benchmark.wall_time_ns / 1e6;
    let percent = |milliseconds: f64| format!("{:.2}%", milliseconds / wall_ms * 100.0);
    let of_a_run = |kernel: &InductorKernel| kernel.total_ns as f64 / 1e3 / 1e3 / benchmark.runs as f64;
    // The sum of no floats is -0.
    let times =
        categories.each_ref().map(|category| category.kernels.iter().map(of_a_run).fold(0.0, |sum, one| sum + one));
    let total = times.iter().fold(0.0, |sum, one| sum + one);
    Inductor {
        tabulate_line: format!(
            "Output for tabulate: {}, {}, {}, {wall_ms:.3}ms",
            benchmark.name,
            times.map(percent).join(", "),
            percent(total)
        ),
        wall_time_ns: benchmark.wall_time_ns,
        runs: benchmark.runs,
        busy_fraction: total / wall_ms,
        categories: categories.into_iter().filter(|category| category.count > 0).collect(),
    }
}

/// All kernels by name, those that took most first, and of equals those that ran first.
fn kernels(trace: &Trace, chosen: &Chosen<'_>) -> Vec<Found> {
    let mut found: FxHashMap<NameId, Found> = FxHashMap::default();
    let mut add = |entry: Entry| {
        let name = match trace.works.all()[entry.what as usize].kind {
            Kind::Kernel(name, _) => name.full,
            Kind::Memory { name, .. } => name,
        };
        let ran = (entry.start, Reverse(entry.end));
        let Found { kernel, first } = found.entry(name).or_insert_with(|| Found {
            kernel: InductorKernel { name: trace.names.text(name).to_owned(), count: 0, total_ns: 0 },
            first: ran,
        });
        *first = ran.min(*first);
        kernel.count += 1;
        kernel.total_ns = kernel.total_ns.saturating_add(entry.duration());
    };
    trace.kernels.iter().chain(&trace.memory).filter(|entry| chosen.operation(entry)).for_each(&mut add);
    let mut kernels: Vec<Found> = found.into_values().collect();
    kernels.sort_by(|one, other| {
        let by_time = other.kernel.total_ns.cmp(&one.kernel.total_ns).then(one.first.cmp(&other.first));
        by_time.then_with(|| one.kernel.name.cmp(&other.kernel.name))
    });
    kernels
}
