//! Times of kernels and memory operations in a whole capture and within its iterations, for comparisons of captures.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Options;
use super::iterations::Iterations;
use super::launched::launched;
use super::ranges::names::Called;
use super::select::Chosen;
use super::totals;
use super::work_categories::WorkCategories;
use crate::memory::{self, Room as _, collected, filled};
use crate::trace::readers::SHARED_CLOCK;
use crate::trace::{
    Capture, Device, Distinct, Entry, IterationRow, Kind, LeftOut, NameId, Trace, Warning, Work, short_name,
};

/// Name of the category of copies and sets.
const MEMORY: &str = "memory";

type Extent = Option<[u32; 3]>;

/// A kernel by its full name, or a kind of copy or set, over all devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedRow {
    /// The whole name.
    pub name: String,
    /// The function's name alone.
    pub short_name: String,
    /// True for a kernel: a kind of copy or set may have the name of a kernel.
    pub is_kernel: bool,
    /// `memory` for copies and sets.
    pub category: String,
    /// Grid of all launches, if it is the same; likewise the next.
    pub grid: Extent,
    /// Threads of a block.
    pub block: Extent,
    /// In the whole capture.
    pub count: u64,
    /// The same.
    pub total_ns: u64,
    /// Number of launches within an iteration.
    pub inside_count: u64,
    /// The same.
    pub inside_ns: u64,
}

/// The four times of an iteration; of its phases together, and of runners captured one after the other, where they have its
/// number in common. Iterations of several processes are counted separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RepeatedIteration {
    /// See [`IterationRow`], also for the others.
    pub host_ns: u64,
    /// From the first start to the last end.
    pub gpu_ns: u64,
    /// With at least one operation.
    pub gpu_busy_ns: u64,
    /// The sum of durations.
    pub gpu_time_ns: u64,
}

/// Device operations of captures, by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeats {
    /// The files.
    pub captures: Vec<Capture>,
    /// Warnings of their readers, one about files that were left out, and one if no range has the requested name.
    pub warnings: Vec<Warning>,
    /// Names of the devices with activities, sorted, each once.
    pub devices: Vec<String>,
    /// Number of devices with activities; one that several processes used counts once.
    pub device_count: usize,
    /// Processes with activities, sorted: clock and number. All captures of a process have the same. Those of an unknown host
    /// are left out.
    pub processes: Vec<String>,
    /// The runners of iterations; in the order of their names, each once.
    pub runners: Vec<String>,
    /// The phases of iterations, as the runners.
    pub phases: Vec<String>,
    /// In the order of their numbers.
    pub iterations: Vec<RepeatedIteration>,
    /// In the order in which they first ran.
    pub rows: Vec<RepeatedRow>,
}

/// Key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Kernel(NameId),
    Memory(NameId),
}

/// Sums the device operations of `trace`, by name.
pub fn repeats(trace: &Trace, options: &Options<'_>) -> Repeats {
    let chosen = Chosen::new(trace, &options.selection);
    let mut iterations =
        Iterations::find(trace, &chosen, &Called::of_labels(trace), options.iteration_range.as_deref());
    let rows = if iterations.rows.is_empty() {
        gather(trace, &chosen, options, trace.kernels.iter().chain(&trace.memory).map(|entry| (entry, false)))
    } else {
        let categories = WorkCategories::new(trace, options.categories);
        let operations = launched(trace, &chosen).map(|(entry, launch)| {
            let inside = launch.filter(|_| chosen.operation(&entry)).is_some_and(|launch| {
                iterations.add(&entry, &launch, &categories);
                iterations.of(&launch).is_some()
            });
            (entry, inside)
        });
        let rows = gather(trace, &chosen, options, operations);
        iterations.finish(&categories);
        rows
    };
    let devices = active_devices(trace, &chosen);
    let clock = |device: &Device| &*trace.clocks[device.clock as usize];
    Repeats {
        captures: trace.captures.clone(),
        warnings: (trace.warnings.iter().cloned())
            .chain(LeftOut::warning(&trace.left_out))
            .chain(iterations.warning.clone())
            .collect(),
        devices: sorted(devices.iter().filter_map(|device| device.name.clone())),
        device_count: sorted(devices.iter().map(|device| (clock(device), device.device_id))).len(),
        processes: sorted(
            devices
                .iter()
                .filter(|device| is_shared(clock(device)))
                .filter_map(|device| Some(format!("{}, process {}", clock(device), device.process_id?))),
        ),
        runners: names(&iterations.rows, |row| row.runner.as_deref()),
        phases: names(&iterations.rows, |row| row.phase.as_deref()),
        iterations: by_number(&iterations.rows, |place| iterations.process(place)),
        rows,
    }
}

fn names(rows: &[IterationRow], of: impl Fn(&IterationRow) -> Option<&str>) -> Vec<String> {
    sorted(rows.iter().filter_map(of)).into_iter().map(str::to_owned).collect()
}

/// Adds up the phases of an iteration. A number that comes again, in the same process or in another, is another iteration.
/// `process_at` has the process of each row.
fn by_number(rows: &[IterationRow], process_at: impl Fn(usize) -> u32) -> Vec<RepeatedIteration> {
    let mut found: BTreeMap<(u64, usize, u64), RepeatedIteration> = BTreeMap::new();
    // The processes of each runner; for each phase of a number, how often it came again, and its last end.
    let (mut processes, mut begun) = (FxHashMap::default(), FxHashMap::default());
    for (place, row) in rows.iter().enumerate() {
        let (runner, process) = (row.runner.as_deref(), process_at(place));
        let of_runner: &mut Distinct<u32> = processes.entry(runner).or_default();
        let process = of_runner.intern(process) as usize;
        let key = (runner, process, row.phase.as_deref(), row.index);
        let (again, end): &mut (u64, i64) = begun.entry(key).or_insert((0, i64::MAX));
        // Threads may have ranges of one iteration at the same time.
        *again += u64::from(row.start_ns >= *end);
        let own_end = row.start_ns.saturating_add_unsigned(row.host_ns);
        *end = if *end == i64::MAX { own_end } else { own_end.max(*end) };
        let sum = found.entry((row.index, process, *again)).or_default();
        sum.host_ns = sum.host_ns.saturating_add(row.host_ns);
        sum.gpu_ns = sum.gpu_ns.saturating_add(row.gpu_ns);
        sum.gpu_busy_ns = sum.gpu_busy_ns.saturating_add(row.gpu_busy_ns);
        sum.gpu_time_ns = sum.gpu_time_ns.saturating_add(row.gpu_time_ns);
    }
    found.into_values().collect()
}

/// Adds operations up; true marks those that were launched within an iteration.
fn gather(
    trace: &Trace,
    chosen: &Chosen<'_>,
    options: &Options<'_>,
    operations: impl Iterator<Item = (Entry, bool)>,
) -> Vec<RepeatedRow> {
    let mut keys: Distinct<Key> = Distinct::default();
    let mut shapes: Vec<(Extent, Extent)> = Vec::new();
    let row = |work: &Work| {
        let (key, shape) = match work.kind {
            Kind::Kernel(name, shape) => (Key::Kernel(name.full), (shape.grid, shape.block)),
            Kind::Memory { kind, .. } => (Key::Memory(kind), (None, None)),
        };
        let row = keys.intern(key) as usize;
        match shapes.get_mut(row) {
            Some((grid, block)) => {
                *grid = grid.filter(|_| *grid == shape.0);
                *block = block.filter(|_| *block == shape.1);
            }
            None => shapes.put(shape),
        }
        row
    };
    let row_of: Vec<usize> = collected(trace.works.all().iter().map(row));
    let mut totals = filled(((0_u64, 0_u64), (0_u64, 0_u64)), shapes.len());
    let add = |(count, total): &mut (u64, u64), entry: &Entry| {
        (*count, *total) = (*count + 1, total.saturating_add(entry.duration()));
    };
    for (entry, inside) in operations.filter(|(entry, _)| chosen.operation(entry)) {
        let (whole, within) = &mut totals[row_of[entry.what as usize]];
        add(whole, &entry);
        if inside {
            add(within, &entry);
        }
    }
    for (key, (count, total)) in of_summaries(trace, chosen) {
        let row = keys.intern(key) as usize;
        shapes.room(1);
        totals.room(1);
        shapes.resize(shapes.len().max(row + 1), (None, None));
        totals.resize(shapes.len(), ((0, 0), (0, 0)));
        shapes[row] = (None, None);
        let whole = &mut totals[row].0;
        *whole = (whole.0.saturating_add(count), whole.1.saturating_add(total));
    }
    let rows = keys.all().iter().zip(shapes).zip(totals).filter(|(_, ((count, _), _))| *count > 0);
    collected(rows.map(|((&key, (grid, block)), ((count, total_ns), (inside_count, inside_ns)))| {
        let (name, short, is_kernel, category) = match key {
            Key::Kernel(full) => {
                let name = trace.names.text(full);
                (name, short_name(name), true, options.categories.of(name))
            }
            Key::Memory(kind) => (trace.names.text(kind), trace.names.text(kind), false, MEMORY),
        };
        let (name, short_name, category) = (name.to_owned(), short.to_owned(), category.to_owned());
        memory::check();
        RepeatedRow { name, short_name, is_kernel, category, grid, block, count, total_ns, inside_count, inside_ns }
    }))
}

/// Totals of captures without single events: in no iteration, and of no known shape.
fn of_summaries(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(Key, (u64, u64))> {
    let kernels =
        totals::kernels(trace, chosen, false).into_iter().map(|((name, _), figures)| (Key::Kernel(name.full), figures));
    let copies = totals::memory(trace, chosen).into_iter().map(|((kind, _), total)| (Key::Memory(kind), total));
    collected(kernels.chain(copies).map(|(key, figures)| (key, (figures.count, figures.total))))
}

/// Returns true for the name of a clock that all captures of a process share.
fn is_shared(clock: &str) -> bool {
    clock.starts_with(SHARED_CLOCK)
}

/// The devices of operations that count.
fn active_devices<'a>(trace: &'a Trace, chosen: &Chosen<'_>) -> Vec<&'a Device> {
    let works = trace.works.all().iter().zip(&chosen.works).filter(|&(_, &counts)| counts);
    let places = sorted(works.map(|(work, _)| work.queue.device));
    places.into_iter().map(|place| &trace.devices[place as usize]).collect()
}

/// The values in their order, each once.
fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<BTreeSet<T>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::aggregate::made::options;
    use crate::trace::categories::Categories;
    use crate::trace::{KernelName, Queue, Shape};

    /// Kernels by name, grid, device, start and duration, and a copy at the end.
    fn trace(kernels: &[(&str, u32, i64, i64, i64)]) -> Trace {
        let mut trace = Trace::default();
        let clock = trace.add_clock("one".to_owned());
        for &(name, grid, device, start, duration) in kernels {
            let queue = Queue { device: trace.device(clock, None, Some(device)), stream: Some(7) };
            let name = KernelName { full: trace.names.intern(name), short: None, mangled: None };
            let shape = Shape { grid: Some([grid, 1, 1]), block: Some([32, 1, 1]), ..Shape::default() };
            let what = trace.works.intern(Work { queue, in_graph: false, kind: Kind::Kernel(name, shape) });
            trace.kernels.push(Entry { what, start, end: start.wrapping_add(duration), bytes: 0, correlation: 0 });
        }
        let queue = Queue { device: trace.device(clock, None, Some(0)), stream: Some(7) };
        let name = trace.names.intern("memcpy HtoD");
        let what =
            trace.works.intern(Work { queue, in_graph: false, kind: Kind::Memory { name, kind: name, sized: true } });
        trace.memory.push(Entry { what, start: 900, end: 907, bytes: 64, correlation: 0 });
        trace
    }

    fn iteration((index, phase): (u64, &str)) -> IterationRow {
        IterationRow { index, phase: Some(phase.to_owned()), host_ns: 1, ..IterationRow::default() }
    }

    #[test]
    fn operations_without_iterations_are_added_up_by_name_over_devices() {
        let trace =
            trace(&[("void f<int>(int*)", 4, 0, 0, 10), ("g", 1, 0, 20, 5), ("void f<int>(int*)", 8, 1, 30, 7)]);
        let categories = Categories::with_rules("").unwrap();
        let found = repeats(&trace, &options(&categories));
        assert!(found.iterations.is_empty() && found.devices.is_empty() && found.processes.is_empty());
        assert_eq!(found.device_count, 2);
        let shown = found.rows.iter().map(|row| (&*row.short_name, row.grid, row.block, row.count, row.total_ns));
        let (one, block) = (Some([1, 1, 1]), Some([32, 1, 1]));
        let expected = [("f", None, block, 2, 17), ("g", one, block, 1, 5), ("memcpy HtoD", None, None, 1, 7)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert!(found.rows.iter().all(|row| row.inside_ns == 0));
        assert_eq!(found.rows[2].category, "memory");
    }

    #[test]
    fn a_file_that_was_left_out_has_a_warning() {
        let mut trace = trace(&[("f", 1, 0, 0, 10)]);
        trace.left_out.push(LeftOut { path: "A/cut.json".to_owned(), reason: "cut".to_owned() });
        let found = repeats(&trace, &options(&Categories::with_rules("").unwrap()));
        let codes: Vec<_> = found.warnings.iter().map(|one| (one.code, &*one.evidence)).collect();
        assert_eq!(codes, [("files_left_out", "A/cut.json: cut")]);
    }

    #[test]
    fn what_is_launched_within_iterations_is_known_apart() {
        let trace = trace(&[("f", 1, 0, 0, 10), ("f", 1, 0, 20, 11), ("f", 1, 0, 40, 12), ("g", 1, 0, 60, 3)]);
        let categories = Categories::with_rules("").unwrap();
        let options = options(&categories);
        let chosen = Chosen::new(&trace, &options.selection);
        let entries = trace.kernels.iter().chain(&trace.memory).zip([true, true, false, false, true]);
        let rows = gather(&trace, &chosen, &options, entries);
        let figures: Vec<_> =
            rows.iter().map(|row| (row.count, row.total_ns, row.inside_count, row.inside_ns)).collect();
        assert_eq!(figures, [(3, 33, 2, 21), (1, 3, 0, 0), (1, 7, 1, 7)]);
    }

    #[test]
    fn phases_of_an_iteration_are_one() {
        let rows: Vec<IterationRow> =
            [3, 9, 3, 5].into_iter().zip(["forward", "forward", "backward", "forward"]).map(iteration).collect();
        let found: Vec<u64> = by_number(&rows, |_| 0).iter().map(|times| times.host_ns).collect();
        assert_eq!(found, [2, 1, 1]);
        assert_eq!(by_number(&[], |_| 0), []);
    }

    #[test]
    fn times_beyond_all_bounds_are_added_up() {
        let hostile = [("f", 1, 0, i64::MIN, -1), ("f", 1, 0, i64::MIN, -1), ("f", 1, 0, i64::MAX, 0)];
        let found = repeats(&trace(&hostile), &options(&Categories::with_rules("").unwrap()));
        assert_eq!((found.rows[0].count, found.rows[0].total_ns), (3, u64::MAX));
    }
}
