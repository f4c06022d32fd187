//! The iterations of a model.
//!
//! - [`marks`] finds the ranges that mark them, [`missing`] says so where none does.
//! - [`groups`] tells those of one runner and phase apart, and which of them are outliers.
//! - [`device`] adds up what was launched in each.

mod device;
mod groups;
mod marks;
mod missing;
#[cfg(test)]
mod tests;

use super::Options;
use super::launched::Launch;
use super::ranges::innermost::{Innermost, Open};
use super::ranges::scopes::Scopes;
use super::select::Chosen;
use crate::trace::{Figures, IterationRow, IterationStatistics, Trace, Warning};
use device::Device;
use groups::Group;
use marks::Marked;

/// The iterations of a trace.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    /// A row for each, in the order of their starts.
    pub(super) rows: Vec<IterationRow>,
    /// What there is to say where a name was given that marks none.
    pub(super) warning: Option<Warning>,
    groups: Vec<Group>,
    scopes: Scopes,
    /// By scope.
    times: Vec<Innermost>,
}

impl Iterations {
    /// Finds them: by the name that the options give, or else by our ranges, by torch's marks of phases, or by
    /// `ProfilerStep#N`, the first of these that there are.
    pub(super) fn find(trace: &Trace, chosen: &Chosen<'_>, options: &Options<'_>) -> Self {
        let name = options.iteration_range.as_deref();
        let marked = marks::find(trace, chosen, name);
        if marked.is_empty() {
            let warning = name.map(|name| missing::warning(trace, chosen, name));
            return Self { warning, ..Self::default() };
        }
        let scopes = Scopes::of(trace, chosen);
        let times = times(&marked, &scopes);
        let mut rows: Vec<IterationRow> = marked.into_iter().map(row).collect();
        let groups = groups::of(&mut rows);
        let mut found = Self { rows, warning: None, groups, scopes, times };
        let device = Device::of(trace, chosen, options, &found);
        device.describe(&mut found.rows, &found.groups);
        found
    }

    /// A row for each runner and phase.
    pub(super) fn statistics(&self) -> Vec<IterationStatistics> {
        self.groups.iter().filter_map(|group| self.statistics_of(group)).collect()
    }

    fn statistics_of(&self, group: &Group) -> Option<IterationStatistics> {
        let of = |value: fn(&IterationRow) -> u64| {
            Figures::of(&mut group.places.iter().map(|&place| value(&self.rows[place])).collect::<Vec<_>>())
        };
        let (durations, busy) = (of(|row| row.duration_ns), of(|row| row.gpu_busy_ns));
        let first = self.rows.get(*group.places.first()?)?;
        Some(IterationStatistics {
            runner: first.runner.clone(),
            phase: first.phase.clone(),
            count: durations.count,
            total_ns: durations.total,
            mean_ns: durations.mean?,
            median_ns: durations.median?,
            min_ns: durations.min?,
            max_ns: durations.max?,
            stddev_ns: durations.stddev,
            p95_ns: durations.p95?,
            gpu_busy_median_ns: busy.median?,
            outlier_count: group.outliers.len() as u64,
        })
    }

    /// The place in `rows` of the iteration in which a call was made: of several, of the one that began last.
    pub(super) fn of(&self, _trace: &Trace, launch: &Launch) -> Option<usize> {
        if self.rows.is_empty() {
            return None;
        }
        let around = self.scopes.around(launch.callee).each().filter_map(|scope| self.times[scope].at(launch.start));
        around.max_by_key(|open| open.depth()).map(|open| open.what as usize)
    }
}

/// When iterations run, by scope.
fn times(marked: &[Marked<'_>], scopes: &Scopes) -> Vec<Innermost> {
    let mut opens: Vec<Vec<Open>> = vec![Vec::new(); scopes.len()];
    for (place, mark) in (0..).zip(marked) {
        let open = Open { start: mark.start, last: mark.end, order: place, what: place };
        opens[scopes.of_label(mark.label)].push(open);
    }
    opens.into_iter().map(Innermost::of).collect()
}

/// A row that does not know yet what ran.
fn row(mark: Marked<'_>) -> IterationRow {
    IterationRow {
        index: mark.index,
        runner: mark.runner.map(str::to_owned),
        phase: mark.phase.map(str::to_owned),
        start_ns: mark.start,
        duration_ns: mark.end.abs_diff(mark.start),
        gpu_busy_ns: 0,
        outlier: false,
        differences: Vec::new(),
    }
}
