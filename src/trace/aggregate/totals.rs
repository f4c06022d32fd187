//! Totals of events of which a capture contains only the totals.

use std::hash::Hash;

use super::figures::Groups;
use super::select::Chosen;
use crate::memory::{Room as _, collected};
use crate::trace::{Figures, KernelName, MetricRow, NameId, Total, TotalKind, Trace, Warning, counted};

/// The totals that count and have a key, those of one key together.
fn figures<K: Copy + Eq + Hash>(
    trace: &Trace,
    chosen: &Chosen<'_>,
    key: impl Fn(&Total) -> Option<K>,
) -> Vec<(K, Figures)> {
    let (mut groups, mut figures) = (Groups::default(), Vec::<Figures>::new());
    for (total, _) in trace.totals.iter().zip(&chosen.totals).filter(|(_, counts)| **counts) {
        let Some(key) = key(total) else { continue };
        let group = groups.of(key) as usize;
        figures.room(1);
        figures.resize(figures.len().max(group + 1), Figures { min: Some(u64::MAX), ..Figures::default() });
        add(&mut figures[group], total);
    }
    collected(groups.keys().copied().zip(figures))
}

fn add(figures: &mut Figures, total: &Total) {
    figures.count = figures.count.saturating_add(total.count);
    figures.total = figures.total.saturating_add(total.total_ns);
    figures.mean = Some(figures.total as f64 / figures.count as f64);
    figures.min = figures.min.min(Some(total.min_ns));
    figures.max = figures.max.max(Some(total.max_ns));
}

/// Returns totals of kernels, by name, and by device if these are separated.
pub(super) fn kernels(
    trace: &Trace,
    chosen: &Chosen<'_>,
    by_device: bool,
) -> Vec<((KernelName, Option<i64>), Figures)> {
    figures(trace, chosen, |total| match total.kind {
        TotalKind::Kernel(name) => Some((name, total.device_id.filter(|_| by_device))),
        _ => None,
    })
}

/// Returns totals of copies and sets, by kind and device.
pub(super) fn memory(trace: &Trace, chosen: &Chosen<'_>) -> Vec<((NameId, Option<i64>), Figures)> {
    figures(trace, chosen, |total| match total.kind {
        TotalKind::Memory(kind) => Some((kind, total.device_id)),
        _ => None,
    })
}

/// Returns totals of functions, by name.
pub(super) fn calls(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(NameId, Figures)> {
    figures(trace, chosen, |total| if let TotalKind::Call(name) = total.kind { Some(name) } else { None })
}

/// Warns if a selection leaves out all totals and metrics.
pub(super) fn warning(trace: &Trace, chosen: &Chosen<'_>) -> Option<Warning> {
    let left_out = trace.totals.len() + trace.metrics.len();
    (!chosen.takes_totals && left_out > 0).then(|| Warning {
        code: "summary_only",
        message: "totals are not selected, because their times, streams and processes are unknown".to_owned(),
        evidence: counted(left_out as u64, "summary row"),
        hint: "Leave out --since, --until, --stream and --process.".to_owned(),
    })
}

/// Returns the metrics that count.
pub(super) fn metrics(trace: &Trace, chosen: &Chosen<'_>) -> Vec<MetricRow> {
    let counted = trace.metrics.iter().zip(&chosen.metrics).filter(|(_, counts)| **counts);
    collected(counted.map(|(metric, _)| metric.clone()))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use crate::trace::MetricRow;
    use crate::trace::aggregate::Selection;
    use crate::trace::aggregate::made::Made;

    #[test]
    fn metrics_are_selected_by_kernel_and_device() {
        let mut made = Made::new();
        for (kernel, device) in [("gemm", "GPU (0)"), ("gemm", "GPU (1)"), ("add", "GPU (1)")] {
            let (kernel, device) = (kernel.into(), device.into());
            made.trace.metrics.push(MetricRow { device, kernel, ..MetricRow::default() });
        }
        let count = |selection| made.summary(selection).metrics.len();
        assert_eq!(count(Selection::default()), 3);
        assert_eq!(count(Selection { filter: Regex::new("gemm").ok(), ..Selection::default() }), 2);
        assert_eq!(count(Selection { devices: vec![1], ..Selection::default() }), 2);
        for other in [
            Selection { streams: vec![7], ..Selection::default() },
            Selection { processes: vec![1], ..Selection::default() },
            Selection { since_ns: Some(0), ..Selection::default() },
        ] {
            let found = made.summary(other);
            let codes: Vec<_> = found.warnings.iter().map(|one| (one.code, &*one.evidence)).collect();
            assert_eq!((found.metrics.len(), &*codes), (0, &[("summary_only", "3 summary rows")][..]));
        }
    }
}
