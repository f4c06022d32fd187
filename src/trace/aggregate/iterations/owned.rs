//! Device activities of each iteration.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::groups::Group;
use crate::memory::Room as _;
use crate::trace::aggregate::work_categories::WorkCategories;
use crate::trace::{Busy, Difference, Entry, IterationRow};

/// So many differences of an outlier are kept.
const KEPT: usize = 5;

/// The operations that an iteration, or a phase of one, owns.
#[derive(Debug, Clone, Default)]
pub(super) struct Owned {
    busy: Busy,
    time_ns: u64,
}

impl Owned {
    /// Takes an operation; its start is not before that of the last one.
    pub(super) fn add(&mut self, entry: &Entry) {
        self.busy.add(entry.start, entry.end);
        self.time_ns = self.time_ns.saturating_add(entry.duration());
    }

    pub(super) fn is_some(&self) -> bool {
        self.busy.span().is_some()
    }

    /// The GPU span, from the first start to the last end; how long at least one operation ran; and the sum of all
    /// durations: on whichever devices.
    pub(super) fn figures(&self) -> (u64, u64, u64) {
        let span = self.busy.span().map_or(0, |(start, end)| end.abs_diff(start));
        (span, self.busy.busy_ns(), self.time_ns)
    }
}

/// Device time by category, of each iteration.
#[derive(Debug, Default)]
pub(super) struct Times(FxHashMap<(u32, u32), u64>);

impl Times {
    pub(super) fn add(&mut self, place: u32, category: u32, duration: u64) {
        self.0.room(1);
        let time = self.0.entry((place, category)).or_default();
        *time = time.saturating_add(duration);
    }

    /// Describes the differences of each outlier from the median iteration of its group.
    pub(super) fn describe(&self, rows: &mut [IterationRow], groups: &[Group], categories: &WorkCategories<'_>) {
        let compared = groups.iter().filter(|group| !group.outliers.is_empty());
        let compared = compared.flat_map(|group| group.outliers.iter().chain([&group.median]));
        let mut found: FxHashMap<usize, FxHashMap<u32, u64>> = compared.map(|&place| (place, <_>::default())).collect();
        for (&(place, category), &time) in &self.0 {
            if let Some(times) = found.get_mut(&(place as usize)) {
                times.insert(category, time);
            }
        }
        for group in groups.iter().filter(|group| !group.outliers.is_empty()) {
            let usual = &found[&group.median];
            let mut largest: Vec<(u32, u64)> = usual.iter().map(|(&category, &time)| (category, time)).collect();
            largest.sort_unstable_by_key(|&(category, time)| (Reverse(time), categories.name(category)));
            for &place in &group.outliers {
                rows[place].differences = differences(&found[&place], usual, &largest, categories);
            }
        }
    }
}

/// The largest differences from the usual times, which are there by category and by size.
fn differences(
    times: &FxHashMap<u32, u64>,
    usual: &FxHashMap<u32, u64>,
    largest: &[(u32, u64)],
    categories: &WorkCategories<'_>,
) -> Vec<Difference> {
    let here = times.iter().map(|(&category, &time)| (category, time, usual.get(&category).copied().unwrap_or(0)));
    // Of what is missing here, no more than are kept need to be looked at.
    let missing = largest.iter().filter(|(category, _)| !times.contains_key(category)).take(KEPT);
    let mut found: Vec<Difference> = here
        .chain(missing.map(|&(category, time)| (category, 0, time)))
        .filter(|(_, time, usual)| time != usual)
        .map(|(category, time, usual)| {
            let size = i64::try_from(time.abs_diff(usual)).unwrap_or(i64::MAX);
            let delta_ns = if time < usual { -size } else { size };
            Difference { category: categories.name(category).to_owned(), delta_ns }
        })
        .collect();
    found.sort_unstable_by(|one, other| {
        let by_size = other.delta_ns.abs().cmp(&one.delta_ns.abs());
        by_size.then_with(|| one.category.cmp(&other.category))
    });
    found.truncate(KEPT);
    found
}
