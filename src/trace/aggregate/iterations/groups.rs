//! Iterations of each runner and phase, and their outliers.

use crate::memory::{self, Room as _, collected};
use crate::stats::describe::outliers;
use crate::trace::{Distinct, IterationRow};

/// Least number of iterations for outliers: with fewer, quartiles are unreliable.
pub(super) const FEWEST: usize = 10;

/// The iterations of one runner and phase, by their places.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) places: Vec<usize>,
    /// True if they launched anything: then GPU spans are compared, else host times.
    pub(super) on_gpu: bool,
    /// The one that took the lower median of the times.
    pub(super) median: usize,
    pub(super) outliers: Vec<usize>,
}

/// The groups, in the order in which they begin; marks outliers. Some rows, by place, launched something.
pub(super) fn of(rows: &mut [IterationRow], launched: impl Fn(usize) -> bool) -> Vec<Group> {
    let mut keys = Distinct::default();
    let mut groups: Vec<Group> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let group = keys.intern((row.runner.as_deref(), row.phase.as_deref())) as usize;
        if group == groups.len() {
            groups.put(Group::default());
        }
        groups[group].places.put(place);
        groups[group].on_gpu |= launched(place);
    }
    for group in &mut groups {
        group.compare(rows);
    }
    for &place in groups.iter().flat_map(|group| &group.outliers) {
        rows[place].outlier = true;
    }
    groups
}

impl Group {
    /// Returns the duration of an iteration.
    pub(super) fn time(&self, row: &IterationRow) -> u64 {
        if self.on_gpu { row.gpu_ns } else { row.host_ns }
    }

    fn compare(&mut self, rows: &[IterationRow]) {
        let mut by_time = memory::copied(&self.places);
        let middle = (by_time.len() - 1) / 2;
        self.median = *by_time.select_nth_unstable_by_key(middle, |&place| (self.time(&rows[place]), place)).1;
        if self.places.len() < FEWEST {
            return;
        }
        let times: Vec<u64> = collected(self.places.iter().map(|&place| self.time(&rows[place])));
        let Ok(fences) = outliers(&times, &|| false) else { return };
        let within = fences.low_outer_fence..=fences.high_outer_fence;
        let places = self.places.iter().zip(times);
        self.outliers =
            collected(places.filter(|(_, time)| !within.contains(&(*time as f64))).map(|(&place, _)| place));
    }
}
