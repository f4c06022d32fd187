//! How kernels follow the calls that launched them.

use super::counting::Counts;
use super::idle;
use super::launched::{Launch, launched};
use super::select::Chosen;
use crate::trace::{Entry, IdleRow, Kind, Launches, Trace};

/// The groups of values.
const LATENCY: usize = 0;
const QUEUE: usize = 1;

/// Over all kernels that count, and why devices were idle, in one pass over the launches of all operations.
pub(super) fn and_idle_causes(trace: &Trace, chosen: &Chosen<'_>, data_loaders: &[String]) -> (Launches, Vec<IdleRow>) {
    let mut rows = idle::Rows::new(trace);
    let mut gaps = idle::Gaps::new(trace, chosen, data_loaders);
    let mut delays = Delays::new();
    let mut unmatched_kernel_count = 0;
    for (entry, launch) in launched(trace, chosen).filter(|(entry, _)| chosen.operation(entry)) {
        gaps.add(&entry, launch.as_ref(), &mut |piece| rows.add(&piece));
        if is_kernel(trace, &entry) {
            match launch {
                Some(launch) => delays.add(&entry, &launch),
                None => unmatched_kernel_count += 1,
            }
        }
    }
    gaps.finish(&mut |piece| rows.add(&piece));
    let again = || {
        let counted = launched(trace, chosen).filter(|(entry, _)| is_kernel(trace, entry) && chosen.operation(entry));
        counted.filter_map(|(entry, launch)| Some((entry, launch?)))
    };
    (Launches { unmatched_kernel_count, ..delays.figures(again) }, rows.rows())
}

fn is_kernel(trace: &Trace, entry: &Entry) -> bool {
    matches!(trace.works.all()[entry.what as usize].kind, Kind::Kernel(..))
}

/// From calls to the kernels that they launched.
struct Delays {
    count: u64,
    counts: Counts,
    /// The smallest latency: below 0 where the clocks of host and device disagree.
    lowest: i64,
}

impl Delays {
    fn new() -> Self {
        Self { count: 0, counts: Counts::guessing(2), lowest: i64::MAX }
    }

    /// Counts one, in the first pass over all.
    fn add(&mut self, kernel: &Entry, launch: &Launch) {
        self.count += 1;
        self.lowest = self.lowest.min(latency(kernel, launch));
        for (group, value) in values(kernel, launch, 0) {
            self.counts.add(group, value);
        }
    }

    /// The figures; `all` gives all again, each time it is called.
    fn figures<I: Iterator<Item = (Entry, Launch)>>(mut self, all: impl Fn() -> I) -> Launches {
        // Only what is not below 0 can be counted. Hardly ever is it all counted again.
        let zero = self.lowest.min(0);
        let entries = || all().flat_map(|(kernel, launch)| values(&kernel, &launch, zero));
        if zero < 0 {
            self.counts = Counts::guessing(2);
            entries().for_each(|(group, value)| self.counts.add(group, value));
        }
        self.counts.refine(entries);
        let (latency, queue) = (self.quantiles(LATENCY, zero), self.quantiles(QUEUE, 0));
        Launches {
            matched_count: self.count,
            latency_median_ns: latency.map(|(median, _)| median),
            latency_p95_ns: latency.map(|(_, p95)| p95),
            queue_median_ns: queue.map(|(median, _)| median),
            queue_p95_ns: queue.map(|(_, p95)| p95),
            ..Launches::default()
        }
    }

    /// Median and 95th percentile of a group, whose values were counted from `zero`.
    fn quantiles(&self, group: usize, zero: i64) -> Option<(f64, f64)> {
        let (values, between) = self.counts.quantiles(group)?;
        let [lower, upper, below, above] = values.map(|value| zero.wrapping_add_unsigned(value) as f64);
        Some((lower.midpoint(upper), below + (above - below) * between))
    }
}

fn latency(kernel: &Entry, launch: &Launch) -> i64 {
    kernel.start.saturating_sub(launch.start)
}

/// What is counted of a kernel: its latency from `zero`, and for how long it was queued.
fn values(kernel: &Entry, launch: &Launch, zero: i64) -> [(usize, u64); 2] {
    let queued = if launch.end < kernel.start { kernel.start.abs_diff(launch.end) } else { 0 };
    // A queue longer than any clock runs is as long as that.
    let queued = queued.min(i64::MAX.cast_unsigned());
    [(LATENCY, latency(kernel, launch).abs_diff(zero)), (QUEUE, queued)]
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
