//! The iterations of each runner and phase, and which of them stand out.

use crate::stats::describe::outliers;
use crate::trace::{Distinct, IterationRow};

/// The iterations of one runner and phase, by their places.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) places: Vec<usize>,
    /// The one that took the lower median of the times.
    pub(super) median: usize,
    pub(super) outliers: Vec<usize>,
}

/// The groups, in the order in which they begin; marks outliers.
pub(super) fn of(rows: &mut [IterationRow]) -> Vec<Group> {
    let mut keys = Distinct::default();
    let mut groups: Vec<Group> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let group = keys.intern((row.runner.as_deref(), row.phase.as_deref())) as usize;
        if group == groups.len() {
            groups.push(Group::default());
        }
        groups[group].places.push(place);
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
    fn compare(&mut self, rows: &[IterationRow]) {
        let mut by_time = self.places.clone();
        let middle = (by_time.len() - 1) / 2;
        self.median = *by_time.select_nth_unstable_by_key(middle, |&place| (rows[place].duration_ns, place)).1;
        let durations: Vec<u64> = self.places.iter().map(|&place| rows[place].duration_ns).collect();
        let Ok(fences) = outliers(&durations, &|| false) else { return };
        let within = fences.low_outer_fence..=fences.high_outer_fence;
        // Fences of fewer than four are as wide as the samples.
        let places = self.places.iter().zip(durations);
        self.outliers =
            places.filter(|(_, duration)| !within.contains(&(*duration as f64))).map(|(&place, _)| place).collect();
    }
}
