//! The figures of `torch._inductor.wrapper_benchmark`, under its names: device time of all operations over wall time.

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

/// What Inductor's benchmark knows and a capture does not.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// What the line for tabulating begins with.
    pub name: String,
    /// How long one run took without a profiler.
    pub wall_time_ns: f64,
    /// How many runs the capture holds.
    pub runs: u64,
}

/// Inductor's view. Copies and sets are kernels to it, and times of kernels that run at once are added up.
pub(super) fn view(trace: &Trace, chosen: &Chosen<'_>, benchmark: &Benchmark) -> Inductor {
    let mut found: FxHashMap<NameId, InductorKernel> = FxHashMap::default();
    let mut add = |entry: Entry| {
        let name = match trace.works.all()[entry.what as usize].kind {
            Kind::Kernel(name, _) => name.full,
            Kind::Memory { name, .. } => name,
        };
        let kernel = found.entry(name).or_insert_with(|| InductorKernel {
            name: trace.names.text(name).to_owned(),
            count: 0,
            total_ns: 0,
        });
        kernel.count += 1;
        kernel.total_ns = kernel.total_ns.saturating_add(entry.duration());
    };
    trace.kernels.iter().chain(&trace.memory).filter(|entry| chosen.operation(entry)).for_each(&mut add);
    let mut categories = CATEGORIES.map(|(name, _)| InductorCategory {
        name: name.to_owned(),
        count: 0,
        total_ns: 0,
        kernels: Vec::new(),
    });
    for kernel in found.into_values() {
        // The last takes everything.
        let place = CATEGORIES.iter().position(|(_, start)| kernel.name.starts_with(start)).unwrap_or(4);
        let category = &mut categories[place];
        category.count += kernel.count;
        category.total_ns = category.total_ns.saturating_add(kernel.total_ns);
        category.kernels.push(kernel);
    }
    for category in &mut categories {
        category
            .kernels
            .sort_by(|one, other| other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name)));
    }
    let wall = benchmark.wall_time_ns * benchmark.runs as f64;
    let percent = |total: f64| format!("{:.2}%", total / wall * 100.0);
    let total: f64 = categories.iter().map(|category| category.total_ns as f64).sum();
    let shares: Vec<String> = categories.iter().map(|category| percent(category.total_ns as f64)).collect();
    Inductor {
        tabulate_line: format!(
            "Output for tabulate: {}, {}, {}, {:.3}ms",
            benchmark.name,
            shares.join(", "),
            percent(total),
            benchmark.wall_time_ns / 1e6
        ),
        wall_time_ns: benchmark.wall_time_ns,
        runs: benchmark.runs,
        busy_fraction: total / wall,
        categories: categories.into_iter().filter(|category| category.count > 0).collect(),
    }
}
