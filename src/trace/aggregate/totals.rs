//! What is known of events of which a capture tells only the totals: no more than those.

use std::hash::Hash;

use super::figures::Groups;
use super::select::Chosen;
use crate::trace::{Figures, KernelName, NameId, Total, TotalKind, Trace};

/// The totals of one kind that count, those of one thing together, by where they ran.
fn figures<K: Copy + Eq + Hash>(
    trace: &Trace,
    chosen: &Chosen<'_>,
    of: impl Fn(&TotalKind) -> Option<K>,
) -> Vec<(K, Option<i64>, Figures)> {
    let (mut groups, mut figures) = (Groups::default(), Vec::<Figures>::new());
    for (total, _) in trace.totals.iter().zip(&chosen.totals).filter(|(_, counts)| **counts) {
        let Some(key) = of(&total.kind) else { continue };
        let group = groups.of((key, total.device_id)) as usize;
        figures.resize(figures.len().max(group + 1), Figures { min: Some(u64::MAX), ..Figures::default() });
        add(&mut figures[group], total);
    }
    groups.keys().zip(figures).map(|(&(key, device_id), figures)| (key, device_id, figures)).collect()
}

fn add(figures: &mut Figures, total: &Total) {
    figures.count = figures.count.saturating_add(total.count);
    figures.total = figures.total.saturating_add(total.total_ns);
    figures.mean = Some(figures.total as f64 / figures.count as f64);
    figures.min = figures.min.min(Some(total.min_ns));
    figures.max = figures.max.max(Some(total.max_ns));
}

/// Of kernels, by name and device.
pub(super) fn kernels(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(KernelName, Option<i64>, Figures)> {
    figures(trace, chosen, |kind| if let TotalKind::Kernel(name) = kind { Some(*name) } else { None })
}

/// Of copies and sets, by kind and device.
pub(super) fn memory(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(NameId, Option<i64>, Figures)> {
    figures(trace, chosen, |kind| if let TotalKind::Memory(kind) = kind { Some(*kind) } else { None })
}

/// Of functions, by name.
pub(super) fn calls(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(NameId, Option<i64>, Figures)> {
    figures(trace, chosen, |kind| if let TotalKind::Call(name) = kind { Some(*name) } else { None })
}
