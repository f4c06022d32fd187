//! Rows of copies and sets.

use super::figures::{Groups, Measure};
use super::select::{Chosen, Numbers};
use super::{fraction, totals};
use crate::memory::collected;
use crate::trace::{Kind, MemoryRow, Trace, Work};

/// A row for each kind and device, the longest in total first.
pub(super) fn rows(trace: &Trace, chosen: &Chosen<'_>, numbers: &Numbers) -> Vec<MemoryRow> {
    let mut groups = Groups::default();
    // Whether all of a group say how large they are.
    let mut sized: Vec<bool> = Vec::new();
    let group = |(work, &counts): (&Work, &bool)| {
        let Kind::Memory { kind, sized: has_size, .. } = work.kind else { return None };
        counts.then(|| {
            let group = groups.of((kind, chosen.number(work.queue.device)));
            match sized.get_mut(group as usize) {
                Some(all) => *all &= has_size,
                None => sized.push(has_size),
            }
            group
        })
    };
    let group_of: Vec<Option<u32>> = collected(trace.works.all().iter().zip(&chosen.works).map(group));
    let figures = |measure| groups.figures(&trace.memory, &group_of, measure, |entry| chosen.operation(entry));
    let (times, sizes) = (figures(Measure::Duration), figures(Measure::Bytes));
    let mut rows: Vec<MemoryRow> = groups
        .keys()
        .zip(times)
        .zip(sizes.into_iter().zip(sized))
        .map(|((&(kind, number), times), (sizes, sized))| {
            let device_id = chosen.numbers.all()[number as usize].1;
            (kind, device_id, numbers.of[number as usize].row, times, sized.then_some(sizes))
        })
        .chain(totals::memory(trace, chosen).into_iter().map(|((kind, id), times)| (kind, id, None, times, None)))
        .filter_map(|(kind, device_id, device, times, sizes)| {
            let (sized, sizes) = (sizes.is_some(), sizes.unwrap_or_default());
            Some(MemoryRow {
                kind: trace.names.text(kind).to_owned(),
                device_id,
                device,
                count: times.count,
                total_ns: times.total,
                mean_ns: times.mean?,
                median_ns: times.median,
                min_ns: times.min?,
                max_ns: times.max?,
                stddev_ns: times.stddev,
                total_bytes: sized.then_some(sizes.total),
                mean_bytes: sizes.mean,
                median_bytes: sizes.median,
                min_bytes: sizes.min,
                max_bytes: sizes.max,
                stddev_bytes: sizes.stddev,
                bandwidth_gb_per_s: if sized { fraction(sizes.total, times.total) } else { None },
            })
        })
        .collect();
    rows.sort_by(|one, other| {
        let key = |row: &MemoryRow| (row.kind.clone(), row.device_id, row.device);
        other.total_ns.cmp(&one.total_ns).then_with(|| key(one).cmp(&key(other)))
    });
    rows
}
