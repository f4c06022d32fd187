//! Delays between kernels and the calls that launched them.

use super::counting::Counts;
use super::fraction;
use super::histogram::Counted;
use super::idle::Cause;
use super::launched::{Launch, launched};
use super::quantiles::Quantiles;
use super::select::Chosen;
use crate::trace::{Entry, IdleRow, Kind, Launches, Trace, Warning};

/// Share of the idle time without a cause from which on there is a warning.
const MUCH: f64 = 0.2;

/// From calls to the kernels that they launched.
pub(super) struct Delays<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    matched: u64,
    unmatched: u64,
    latencies: Quantiles,
    queues: Quantiles,
    /// The smallest latency: below 0 where the clocks of host and device disagree.
    lowest: i64,
    /// Latencies and queues, for plots.
    histograms: Option<[Counted; 2]>,
}

impl<'a> Delays<'a> {
    pub(super) fn new(trace: &'a Trace, chosen: &'a Chosen<'a>, plot_data: bool) -> Self {
        let (latencies, queues) = (Quantiles::new(), Quantiles::new());
        let histograms = plot_data.then(|| [Counted::new(), Counted::new()]);
        Self { trace, chosen, matched: 0, unmatched: 0, latencies, queues, lowest: i64::MAX, histograms }
    }

    /// Takes a kernel with the call that launched it.
    pub(super) fn add(&mut self, kernel: &Entry, launch: Option<&Launch>) {
        let Some(launch) = launch else {
            self.unmatched += 1;
            return;
        };
        self.matched += 1;
        let latency = latency(kernel, launch);
        self.lowest = self.lowest.min(latency);
        self.latencies.add(latency);
        self.queues.add(queued(kernel, launch));
        if let Some([latencies, queues]) = &mut self.histograms {
            latencies.add(latency);
            queues.add(queued(kernel, launch));
        }
    }

    pub(super) fn figures(self) -> Launches {
        let [latency_histogram, queue_histogram] = self
            .histograms
            .as_ref()
            .map_or([None, None], |[latencies, queues]| [Some(latencies.histogram()), Some(queues.histogram())]);
        let counted = Launches {
            latency_histogram,
            queue_histogram,
            matched_count: self.matched,
            unmatched_kernel_count: self.unmatched,
            ..Launches::default()
        };
        let Some(last) = self.matched.checked_sub(1) else { return counted };
        let (trace, chosen, lowest) = (self.trace, self.chosen, self.lowest);
        let found = self.latencies.figures().zip(self.queues.figures());
        let (latencies, queues) = found.unwrap_or_else(|| in_passes(trace, chosen, lowest.min(0)));
        let median = |[lower, upper, ..]: [i64; 4]| (lower as f64).midpoint(upper as f64);
        let between = (last * 95 % 100) as f64 / 100.0;
        let p95 = |[.., below, above]: [i64; 4]| below as f64 + (above as f64 - below as f64) * between;
        Launches {
            latency_median_ns: Some(median(latencies)),
            latency_p95_ns: Some(p95(latencies)),
            queue_median_ns: Some(median(queues)),
            queue_p95_ns: Some(p95(queues)),
            ..counted
        }
    }
}

/// Warns of missing launches: causes of idle time are derived from launches.
pub(super) fn warning(launches: &Launches, idle: &[IdleRow]) -> Option<Warning> {
    let kernels = launches.matched_count + launches.unmatched_kernel_count;
    let of = |cause: Option<&str>| -> u64 {
        let rows = idle.iter().filter(|row| cause.is_none_or(|cause| row.cause == cause));
        rows.fold(0, |sum, row| sum.saturating_add(row.total_ns))
    };
    let (without, whole) = (of(Some(Cause::Unmatched.name())), of(None));
    // A capture without any launch has none to miss.
    if launches.matched_count == 0 || without == 0 || (without as f64) < MUCH * whole as f64 {
        return None;
    }
    let percent = |part: u64, whole: u64| fraction(part, whole).unwrap_or_default() * 100.0;
    Some(Warning {
        code: "unmatched_launches",
        message: format!("{:.0} % of the idle time has no cause", percent(without, whole)),
        evidence: format!(
            "{:.0} % of the kernels have no launch in the capture",
            percent(launches.unmatched_kernel_count, kernels)
        ),
        hint: String::new(),
    })
}

/// Warns if the median kernel starts before its launch.
pub(super) fn clock_warning(launches: &Launches) -> Option<Warning> {
    let median = launches.latency_median_ns.filter(|median| *median < 0.0)?;
    Some(Warning {
        code: "clocks_disagree",
        message: "latencies and causes of idle time are wrong, because kernels start before their launches".to_owned(),
        evidence: format!("median of {median} ns from launch to start; {} launches", launches.matched_count),
        hint: "Capture again: fastrnns-rs profile RUNNER".to_owned(),
    })
}

/// Counts all from `zero`, in some more passes, if those near the wanted ranks were not kept, which is rare.
fn in_passes(trace: &Trace, chosen: &Chosen<'_>, zero: i64) -> ([i64; 4], [i64; 4]) {
    let entries = || {
        let counted = launched(trace, chosen).filter(|(entry, _)| is_kernel(trace, entry) && chosen.operation(entry));
        counted.filter_map(|(entry, launch)| Some((entry, launch?))).flat_map(|(kernel, launch)| {
            [(0, latency(&kernel, &launch).abs_diff(zero)), (1, queued(&kernel, &launch).unsigned_abs())]
        })
    };
    let mut counts = Counts::new(2);
    entries().for_each(|(group, value)| counts.add(group, value));
    counts.refine(entries);
    let of = |group, zero: i64| counts.wanted(group).map(|value| zero.wrapping_add_unsigned(value));
    (of(0, zero), of(1, 0))
}

fn is_kernel(trace: &Trace, entry: &Entry) -> bool {
    matches!(trace.works.all()[entry.what as usize].kind, Kind::Kernel(..))
}

fn latency(kernel: &Entry, launch: &Launch) -> i64 {
    kernel.start.saturating_sub(launch.start)
}

/// For how long a kernel was queued. A queue longer than any clock runs is as long as that.
fn queued(kernel: &Entry, launch: &Launch) -> i64 {
    kernel.start.saturating_sub(launch.end).max(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::trace::Figures;
    use crate::trace::aggregate::made::Made;
    use crate::trace::aggregate::select::Selection;

    /// Median and 95th percentile, by sorting; `None` of nothing.
    fn sorted(values: &[i64]) -> (Option<f64>, Option<f64>) {
        // Figures are of what is not below 0.
        let zero = values.iter().copied().min().unwrap_or_default();
        let mut above: Vec<u64> = values.iter().map(|value| value.abs_diff(zero)).collect();
        let figures = Figures::of(&mut above);
        (figures.median.map(|median| median + zero as f64), figures.p95.map(|p95| p95 + zero as f64))
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            kernels in prop::collection::vec((0..100_000_i64, -300..60_000_i64, 0..9_000_i64, any::<bool>()), 0..60),
        ) {
            let (mut made, mut latencies, mut queues) = (Made::new(), Vec::new(), Vec::new());
            for (correlation, &(start, latency, length, known)) in (1..).zip(&kernels) {
                made.kernel((0, Some(1)), (start, start + 1), correlation);
                if known {
                    let called = start - latency;
                    made.call((Some(1), Some(1)), "cudaLaunchKernel", (called, called + length), correlation);
                    latencies.push(latency);
                    queues.push((latency - length).max(0));
                }
            }
            let found = made.summary(Selection::default()).launches;
            prop_assert_eq!(found.matched_count, latencies.len() as u64);
            prop_assert_eq!(found.unmatched_kernel_count, (kernels.len() - latencies.len()) as u64);
            let ((latency_median, latency_p95), (queue_median, queue_p95)) = (sorted(&latencies), sorted(&queues));
            prop_assert_eq!((found.latency_median_ns, found.queue_median_ns), (latency_median, queue_median));
            for (found, expected) in [(found.latency_p95_ns, latency_p95), (found.queue_p95_ns, queue_p95)] {
                prop_assert_eq!(found.is_some(), expected.is_some());
                prop_assert!((found.unwrap_or_default() - expected.unwrap_or_default()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn takes_clocks_that_disagree_by_ages() {
        let mut made = Made::new();
        made.kernel((0, Some(1)), (i64::MIN, i64::MIN), 1);
        made.call((Some(1), Some(1)), "cudaLaunchKernel", (i64::MAX, i64::MAX), 1);
        made.kernel((0, Some(1)), (i64::MAX, i64::MAX), 2);
        made.call((Some(1), Some(1)), "cudaLaunchKernel", (i64::MIN, i64::MIN), 2);
        let found = made.summary(Selection::default()).launches;
        assert_eq!((found.matched_count, found.queue_median_ns), (2, Some((i64::MAX / 2) as f64)));
    }
}
