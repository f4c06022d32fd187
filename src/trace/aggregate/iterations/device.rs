//! What devices did for each iteration.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::groups::Group;
use super::{Iterations, Options};
use crate::trace::aggregate::launched::launched;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Busy, Difference, Distinct, IterationRow, Kind, NameId, Trace};

/// So many differences of an outlier are told.
const TOLD: usize = 5;

/// What was launched in iterations.
pub(super) struct Device<'a> {
    /// By iteration and device.
    busy: FxHashMap<(usize, u32), Busy>,
    categories: Distinct<&'a str>,
    /// By iteration: device time by category, of outliers and of what they are compared with.
    times: FxHashMap<usize, FxHashMap<u32, u64>>,
}

impl<'a> Device<'a> {
    pub(super) fn of(trace: &'a Trace, chosen: &Chosen<'_>, options: &'a Options<'_>, found: &Iterations) -> Self {
        let compared = found.groups.iter().filter(|group| !group.outliers.is_empty());
        let compared = compared.flat_map(|group| group.outliers.iter().chain([&group.median]));
        let times: FxHashMap<usize, _> = compared.map(|&place| (place, FxHashMap::default())).collect();
        let mut device = Self { busy: FxHashMap::default(), categories: Distinct::default(), times };
        let of_works = if device.times.is_empty() { Vec::new() } else { device.sort(trace, options) };
        for (entry, launch) in launched(trace, chosen).filter(|(entry, _)| chosen.operation(entry)) {
            let Some(place) = launch.and_then(|launch| found.of(trace, &launch)) else { continue };
            let of_device = trace.works.all()[entry.what as usize].queue.device;
            device.busy.entry((place, of_device)).or_default().add(entry.start, entry.end);
            if let Some(times) = device.times.get_mut(&place) {
                let time = times.entry(of_works[entry.what as usize]).or_default();
                *time = time.saturating_add(entry.duration());
            }
        }
        device
    }

    /// The category of each piece of work; of copies and sets their kind.
    fn sort(&mut self, trace: &'a Trace, options: &'a Options<'_>) -> Vec<u32> {
        let mut known: FxHashMap<NameId, u32> = FxHashMap::default();
        let works = trace.works.all().iter();
        let number = works.map(|work| match work.kind {
            Kind::Kernel(name, _) => *known
                .entry(name.full)
                .or_insert_with(|| self.categories.intern(options.categories.of(trace.names.text(name.full)))),
            Kind::Memory { kind, .. } => self.categories.intern(trace.names.text(kind)),
        });
        number.collect()
    }

    /// Says of each iteration for how long devices were busy, and of outliers what differs.
    pub(super) fn describe(self, rows: &mut [IterationRow], groups: &[Group]) {
        for (&(place, _), busy) in &self.busy {
            let sum = &mut rows[place].gpu_busy_ns;
            *sum = sum.saturating_add(busy.busy_ns());
        }
        for group in groups.iter().filter(|group| !group.outliers.is_empty()) {
            let Some(usual) = self.times.get(&group.median) else { continue };
            let mut largest: Vec<(u32, u64)> = usual.iter().map(|(&category, &time)| (category, time)).collect();
            largest.sort_unstable_by_key(|&(category, time)| (Reverse(time), self.name(category)));
            for &place in &group.outliers {
                rows[place].differences = self.differences(place, usual, &largest);
            }
        }
    }

    fn name(&self, category: u32) -> &'a str {
        self.categories.all()[category as usize]
    }

    /// The largest differences from the usual times, which are there by category and by size.
    fn differences(&self, place: usize, usual: &FxHashMap<u32, u64>, largest: &[(u32, u64)]) -> Vec<Difference> {
        let Some(times) = self.times.get(&place) else { return Vec::new() };
        let here = times.iter().map(|(&category, &time)| (category, time, usual.get(&category).copied().unwrap_or(0)));
        // Of what is missing here, more than are told need not be looked at.
        let missing = largest.iter().filter(|(category, _)| !times.contains_key(category)).take(TOLD);
        let mut found: Vec<Difference> = here
            .chain(missing.map(|&(category, time)| (category, 0, time)))
            .filter(|(_, time, usual)| time != usual)
            .map(|(category, time, usual)| {
                let size = i64::try_from(time.abs_diff(usual)).unwrap_or(i64::MAX);
                Difference {
                    category: self.name(category).to_owned(),
                    delta_ns: if time < usual { -size } else { size },
                }
            })
            .collect();
        found.sort_unstable_by(|one, other| {
            let by_size = other.delta_ns.abs().cmp(&one.delta_ns.abs());
            by_size.then_with(|| one.category.cmp(&other.category))
        });
        found.truncate(TOLD);
        found
    }
}
