//! The iterations of a model.
//!
//! - [`marks`] finds the ranges that mark them, [`missing`] warns if none does.
//! - [`owners`] finds the iterations that were open during a call, [`owned`] adds up the activities that the call launched.
//! - [`groups`] divides them by runner and phase, and finds outliers.

mod groups;
mod marks;
mod missing;
mod owned;
mod owners;
#[cfg(test)]
mod tests;

use super::launched::Launch;
use super::ranges::names::Called;
use super::select::Chosen;
use super::work_categories::WorkCategories;
use crate::memory::{self, Room as _, collected, filled};
use crate::trace::{Entry, Figures, IterationPart, IterationRow, IterationStatistics, Names, Trace, Warning};
use groups::Group;
use marks::Marked;
use owned::{Owned, Times};
use owners::Owners;

/// The iterations of a trace. An iteration owns each operation that any thread of its process launched while it was open.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    /// A row for each, in the order of their starts.
    pub(super) rows: Vec<IterationRow>,
    /// The name of their ranges, where it contains neither runner nor phase.
    name: Option<String>,
    /// Warning for a requested name that marks no iteration.
    pub(super) warning: Option<Warning>,
    /// Phases within iterations: the place of the iteration in `rows`, and that of the mark in `owned`.
    parts: Vec<(usize, usize, IterationPart)>,
    owners: Owners,
    /// By place of a mark: those of rows, then those of phases.
    owned: Vec<Owned>,
    times: Times,
    groups: Vec<Group>,
}

impl Iterations {
    /// Finds iterations: by `name`, if given, or else by `ProfilerStep#N`, by our ranges, or by torch's marks of phases. The
    /// first available source is used. Phases within steps are parts of them. `called` has the parsed labels.
    pub(super) fn find(trace: &Trace, chosen: &Chosen<'_>, called: &[Called<'_>], name: Option<&str>) -> Self {
        let (mut marks, phases) = marks::find(trace, chosen, called, name);
        if marks.is_empty() {
            let warning = name.map(|name| missing::warning(trace, chosen, name));
            return Self { warning, ..Self::default() };
        }
        let mut runners = Names::default();
        let rows: Vec<IterationRow> = collected(marks.iter().map(|mark| row(mark, &mut runners)));
        marks.room(phases.len());
        marks.extend(phases);
        let owners = Owners::of(trace, chosen, &marks);
        let parts = marks.iter().enumerate().skip(rows.len()).filter_map(|(place, mark)| {
            let mut around = owners.around(place, mark.start).iter().map(|&place| place as usize);
            Some((around.find(|&place| place < rows.len())?, place, part(mark, &mut runners)))
        });
        let (parts, owned) = (collected(parts), filled(Owned::default(), marks.len()));
        // Our ranges have both, torch's marks the phase.
        let is_step = rows.iter().all(|row| row.phase.is_none());
        let name = is_step.then(|| name.unwrap_or("ProfilerStep").to_owned());
        Self { rows, name, parts, owners, owned, ..Self::default() }
    }

    /// The place in `rows` of the iteration in which a call was made: of several, of the one that began last.
    pub(super) fn of(&self, launch: &Launch) -> Option<usize> {
        let mut open = self.owners.of_call(launch.callee, launch.start).iter().map(|&place| place as usize);
        open.find(|&place| place < self.rows.len())
    }

    /// The number of the process of an iteration.
    pub(super) fn process(&self, place: usize) -> u32 {
        self.owners.process(place)
    }

    /// Takes an operation with the call that launched it; starts ascend.
    pub(super) fn add(&mut self, entry: &Entry, launch: &Launch, categories: &WorkCategories<'_>) {
        if self.rows.is_empty() {
            return;
        }
        for &place in self.owners.of_call(launch.callee, launch.start) {
            self.owned[place as usize].add(entry);
            if self.rows.len() >= groups::FEWEST && (place as usize) < self.rows.len() {
                self.times.add(place, categories.of_work(entry.what), entry.duration());
            }
        }
    }

    /// Completes the rows, once all operations were added.
    pub(super) fn finish(&mut self, categories: &WorkCategories<'_>) {
        for (row, owned) in self.rows.iter_mut().zip(&self.owned) {
            (row.gpu_ns, row.gpu_busy_ns, row.gpu_time_ns) = owned.figures();
        }
        for (iteration, mark, mut part) in std::mem::take(&mut self.parts) {
            (part.gpu_ns, part.gpu_busy_ns, part.gpu_time_ns) = self.owned[mark].figures();
            self.rows[iteration].parts.push(part);
        }
        let owned = &self.owned;
        self.groups = groups::of(&mut self.rows, |place| owned[place].is_some());
        self.times.describe(&mut self.rows, &self.groups, categories);
    }

    /// A row for each runner and phase.
    pub(super) fn statistics(&self) -> Vec<IterationStatistics> {
        self.groups.iter().filter_map(|group| self.statistics_of(group)).collect()
    }

    fn statistics_of(&self, group: &Group) -> Option<IterationStatistics> {
        let of = |value: &dyn Fn(&IterationRow) -> u64| {
            Figures::of(&mut collected(group.places.iter().map(|&place| value(&self.rows[place]))))
        };
        let times = of(&|row| group.time(row));
        let median = |value: fn(&IterationRow) -> u64| of(&value).median;
        let first = self.rows.get(*group.places.first()?)?;
        Some(IterationStatistics {
            name: self.name.clone(),
            runner: first.runner.clone(),
            phase: first.phase.clone(),
            count: times.count,
            total_ns: times.total,
            mean_ns: times.mean?,
            median_ns: times.median?,
            min_ns: times.min?,
            max_ns: times.max?,
            stddev_ns: times.stddev,
            p95_ns: times.p95?,
            gpu_busy_median_ns: median(|row| row.gpu_busy_ns)?,
            outlier_count: group.outliers.len() as u64,
            measure: if group.on_gpu { "gpu_ns" } else { "host_ns" },
            host_median_ns: median(|row| row.host_ns)?,
            gpu_median_ns: median(|row| row.gpu_ns)?,
            gpu_time_median_ns: median(|row| row.gpu_time_ns)?,
        })
    }
}

/// Makes a row without activities.
fn row(mark: &Marked<'_>, runners: &mut Names) -> IterationRow {
    memory::check();
    let host_ns = mark.end.abs_diff(mark.start);
    IterationRow {
        index: mark.index,
        runner: mark.runner.map(|runner| runners.share(runner)),
        phase: mark.phase.map(str::to_owned),
        start_ns: mark.start,
        duration_ns: host_ns,
        host_ns,
        ..IterationRow::default()
    }
}

/// The same for a phase within an iteration.
fn part(mark: &Marked<'_>, runners: &mut Names) -> IterationPart {
    IterationPart {
        runner: mark.runner.map(|runner| runners.share(runner)),
        phase: mark.phase.map(str::to_owned),
        start_ns: mark.start,
        host_ns: mark.end.abs_diff(mark.start),
        ..IterationPart::default()
    }
}
