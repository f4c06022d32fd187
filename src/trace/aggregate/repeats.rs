//! What each kernel and each kind of memory operation took, once for every repeat of the same work: what two captures are
//! compared by.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Options;
use super::iterations::Iterations;
use super::launched::launched;
use super::select::Chosen;
use super::totals;
use crate::trace::{Capture, Distinct, Entry, IterationRow, Kind, NameId, Trace, Warning, short_name};

/// So many repeats at most: more iterations are taken together, neighbour with neighbour.
const MOST_REPEATS: usize = 100;
/// What the category of copies and sets is called.
const MEMORY: &str = "memory";

type Extent = Option<[u32; 3]>;

/// A kernel by its full name, or a kind of copy or set, over all devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedRow {
    /// The whole name.
    pub name: String,
    /// The function's name alone.
    pub short_name: String,
    /// Whether it is a kernel: a kind of copy or set may be called as one is.
    pub is_kernel: bool,
    /// `memory` for copies and sets.
    pub category: String,
    /// What all launches have in common, as the next.
    pub grid: Extent,
    /// Threads of a block.
    pub block: Extent,
    /// In the whole capture, whether or not within a repeat.
    pub count: u64,
    /// The same.
    pub total_ns: u64,
    /// Those repeats in which it ran: their places, how often, and how long.
    pub repeats: Vec<(u32, u64, u64)>,
}

/// The device operations of captures, by what ran and by repeat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeats {
    /// The files.
    pub captures: Vec<Capture>,
    /// What their readers want to be known.
    pub warnings: Vec<Warning>,
    /// What the devices that did something are called; in the order of these names, each once.
    pub devices: Vec<String>,
    /// How many iterations each repeat has; none where the captures have none.
    pub iterations: Vec<u64>,
    /// In the order in which they first ran.
    pub rows: Vec<RepeatedRow>,
}

/// What makes a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Kernel(NameId),
    Memory(NameId),
}

/// The device operations of `trace`, by what ran and by iteration.
pub fn repeats(trace: &Trace, options: &Options<'_>) -> Repeats {
    let chosen = Chosen::new(trace, &options.selection);
    let iterations = Iterations::find(trace, &chosen, options.iteration_range.as_deref());
    let (place_of, sizes) = places(&iterations.rows);
    let rows = if sizes.is_empty() {
        gather(trace, &chosen, options, trace.kernels.iter().chain(&trace.memory).map(|entry| (entry, None)))
    } else {
        let within = |launch| iterations.of(&launch).and_then(|row| place_of.get(row).copied());
        let operations = launched(trace, &chosen).map(|(entry, launch)| (entry, launch.and_then(within)));
        gather(trace, &chosen, options, operations)
    };
    Repeats {
        captures: trace.captures.clone(),
        warnings: trace.warnings.clone(),
        devices: device_names(trace, &chosen),
        iterations: sizes,
        rows,
    }
}

/// The repeat of each row, and how many iterations each repeat has. The phases of an iteration, and the runners that were
/// captured one after the other, have its number in common and are one.
fn places(rows: &[IterationRow]) -> (Vec<u32>, Vec<u64>) {
    let mut ordinals: BTreeMap<u64, usize> = rows.iter().map(|row| (row.index, 0)).collect();
    for (ordinal, place) in ordinals.values_mut().enumerate() {
        *place = ordinal;
    }
    let count = ordinals.len();
    let repeats = count.min(MOST_REPEATS);
    let repeat = |ordinal: usize| ordinal * repeats / count.max(1);
    let mut sizes = vec![0; repeats];
    for &ordinal in ordinals.values() {
        sizes[repeat(ordinal)] += 1;
    }
    let place = |row: &IterationRow| ordinals.get(&row.index).map_or(0, |&ordinal| repeat(ordinal) as u32);
    (rows.iter().map(place).collect(), sizes)
}

/// Adds operations up, each of which is given with its repeat if it has one.
fn gather(
    trace: &Trace,
    chosen: &Chosen<'_>,
    options: &Options<'_>,
    operations: impl Iterator<Item = (Entry, Option<u32>)>,
) -> Vec<RepeatedRow> {
    let mut keys: Distinct<Key> = Distinct::default();
    let mut shapes: Vec<(Extent, Extent)> = Vec::new();
    let row_of: Vec<usize> = trace
        .works
        .all()
        .iter()
        .map(|work| {
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
                None => shapes.push(shape),
            }
            row
        })
        .collect();
    let mut totals = vec![(0_u64, 0_u64); shapes.len()];
    let mut parts: FxHashMap<(usize, u32), (u64, u64)> = FxHashMap::default();
    let add = |(count, total): &mut (u64, u64), entry: &Entry| {
        (*count, *total) = (*count + 1, total.saturating_add(entry.duration()));
    };
    for (entry, repeat) in operations.filter(|(entry, _)| chosen.operation(entry)) {
        let row = row_of[entry.what as usize];
        add(&mut totals[row], &entry);
        if let Some(repeat) = repeat {
            add(parts.entry((row, repeat)).or_default(), &entry);
        }
    }
    for (key, (count, total)) in of_summaries(trace, chosen) {
        let row = keys.intern(key) as usize;
        shapes.resize(shapes.len().max(row + 1), (None, None));
        totals.resize(shapes.len(), (0, 0));
        shapes[row] = (None, None);
        totals[row] = (totals[row].0.saturating_add(count), totals[row].1.saturating_add(total));
    }
    let mut repeats = vec![Vec::new(); totals.len()];
    for ((row, repeat), (count, total)) in parts {
        repeats[row].push((repeat, count, total));
    }
    let rows = keys.all().iter().zip(shapes).zip(totals.into_iter().zip(repeats));
    rows.filter(|(_, ((count, _), _))| *count > 0)
        .map(|((&key, (grid, block)), ((count, total_ns), mut repeats))| {
            repeats.sort_unstable();
            let (name, short, is_kernel, category) = match key {
                Key::Kernel(full) => {
                    let name = trace.names.text(full);
                    (name, short_name(name), true, options.categories.of(name))
                }
                Key::Memory(kind) => (trace.names.text(kind), trace.names.text(kind), false, MEMORY),
            };
            let (name, short_name, category) = (name.to_owned(), short.to_owned(), category.to_owned());
            RepeatedRow { name, short_name, is_kernel, category, grid, block, count, total_ns, repeats }
        })
        .collect()
}

/// What captures tell as totals only, in no repeat and of no known shape.
fn of_summaries(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(Key, (u64, u64))> {
    let kernels = totals::kernels(trace, chosen).into_iter().map(|(name, _, told)| (Key::Kernel(name.full), told));
    let memory = totals::memory(trace, chosen).into_iter().map(|(kind, _, told)| (Key::Memory(kind), told));
    kernels.chain(memory).map(|(key, told)| (key, (told.count, told.total))).collect()
}

fn device_names(trace: &Trace, chosen: &Chosen<'_>) -> Vec<String> {
    let works = trace.works.all().iter().zip(&chosen.works).filter(|&(_, &counts)| counts);
    let mut names: Vec<String> =
        works.filter_map(|(work, _)| trace.devices[work.queue.device as usize].name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::aggregate::made::options;
    use crate::trace::categories::Categories;
    use crate::trace::{KernelName, Queue, Shape, Work};

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

    fn iteration(index: u64, phase: &str) -> IterationRow {
        IterationRow {
            index,
            runner: Some("cudnn".to_owned()),
            phase: Some(phase.to_owned()),
            start_ns: 0,
            duration_ns: 1,
            gpu_busy_ns: 1,
            outlier: false,
            differences: Vec::new(),
            host_ns: 1,
            gpu_ns: 1,
            gpu_time_ns: 1,
            parts: Vec::new(),
        }
    }

    #[test]
    fn operations_without_iterations_are_added_up_by_name_over_devices() {
        let trace =
            trace(&[("void f<int>(int*)", 4, 0, 0, 10), ("g", 1, 0, 20, 5), ("void f<int>(int*)", 8, 1, 30, 7)]);
        let categories = Categories::with_rules("").unwrap();
        let found = repeats(&trace, &options(&categories));
        assert!(found.iterations.is_empty() && found.devices.is_empty());
        let shown: Vec<_> = found
            .rows
            .iter()
            .map(|row| (row.short_name.as_str(), row.grid, row.block, row.count, row.total_ns, row.repeats.len()))
            .collect();
        let block = Some([32, 1, 1]);
        assert_eq!(
            shown,
            [
                ("f", None, block, 2, 17, 0),
                ("g", Some([1, 1, 1]), block, 1, 5, 0),
                ("memcpy HtoD", None, None, 1, 7, 0)
            ]
        );
        assert_eq!(found.rows[2].category, "memory");
    }

    #[test]
    fn each_repeat_has_what_was_launched_in_it() {
        let trace = trace(&[("f", 1, 0, 0, 10), ("f", 1, 0, 20, 11), ("f", 1, 0, 40, 12), ("g", 1, 0, 60, 3)]);
        let categories = Categories::with_rules("").unwrap();
        let options = options(&categories);
        let chosen = Chosen::new(&trace, &options.selection);
        let repeat_of = [Some(1), Some(0), Some(1), None, Some(0)];
        let entries = trace.kernels.iter().chain(&trace.memory).zip(repeat_of);
        let rows = gather(&trace, &chosen, &options, entries);
        assert_eq!(rows[0].repeats, [(0, 1, 11), (1, 2, 22)]);
        assert_eq!((rows[0].count, rows[0].total_ns), (3, 33));
        assert_eq!((rows[1].count, rows[1].repeats.len()), (1, 0));
        assert_eq!(rows[2].repeats, [(0, 1, 7)]);
    }

    #[test]
    fn phases_of_an_iteration_are_one_repeat() {
        let rows: Vec<IterationRow> = [3, 5, 9]
            .into_iter()
            .flat_map(|index| [iteration(index, "forward"), iteration(index, "backward")])
            .collect();
        assert_eq!(places(&rows), (vec![0, 0, 1, 1, 2, 2], vec![1, 1, 1]));
        assert_eq!(places(&[]), (vec![], vec![]));
    }

    #[test]
    fn many_iterations_are_taken_together_in_order() {
        let rows: Vec<IterationRow> = (0..1003).map(|index| iteration(index, "forward")).collect();
        let (places, sizes) = places(&rows);
        assert!(places.is_sorted());
        assert_eq!((sizes.len(), sizes.iter().sum::<u64>()), (MOST_REPEATS, 1003));
        assert!(sizes.iter().all(|size| (10..=11).contains(size)), "{sizes:?}");
    }

    #[test]
    fn times_beyond_all_bounds_are_added_up() {
        let hostile = [("f", 1, 0, i64::MIN, -1), ("f", 1, 0, i64::MIN, -1), ("f", 1, 0, i64::MAX, 0)];
        let found = repeats(&trace(&hostile), &options(&Categories::with_rules("").unwrap()));
        assert_eq!((found.rows[0].count, found.rows[0].total_ns), (3, u64::MAX));
    }
}
