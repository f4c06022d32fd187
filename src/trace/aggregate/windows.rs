//! Windows of time that a selection counts.

use crate::memory::{collected, filled};
use crate::trace::{Distinct, Trace};

/// Time from one nanosecond to before another; the last nanosecond that there is leaves it open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    from: i64,
    to: i64,
}

impl Window {
    #[inline]
    pub(super) fn holds(self, start: i64) -> bool {
        start >= self.from && (start < self.to || self.to == i64::MAX)
    }
}

/// Windows of the captures. Each has its own origin, because captures of one clock may begin at very different times.
#[derive(Debug)]
pub(super) struct Windows {
    /// By number of work.
    pub(super) works: Vec<Window>,
    /// By number of callee.
    pub(super) callees: Vec<Window>,
    /// By number of label.
    pub(super) labels: Vec<Window>,
}

impl Windows {
    /// Makes the windows of all captures. `clocks` has the first clock of each name.
    ///
    /// The origin is the first device operation of the clock in the capture, or the first event if it has none.
    pub(super) fn of(trace: &Trace, clocks: &[u32], since_ns: Option<i64>, until_ns: Option<i64>) -> Self {
        let mut keys = Distinct::default();
        let mut key = |capture: u32, clock: u32| keys.intern((capture, clocks[clock as usize])) as usize;
        let device = |place: u32| &trace.devices[place as usize];
        let devices = trace.works.all().iter().map(|work| device(work.queue.device));
        let works: Vec<usize> = collected(devices.map(|device| key(device.capture, device.clock)));
        let callees: Vec<usize> = collected(trace.callees.all().iter().map(|callee| key(callee.capture, callee.clock)));
        let labels: Vec<usize> = collected(trace.labels.all().iter().map(|label| key(label.capture, label.clock)));

        let operations =
            trace.kernels.iter().chain(&trace.memory).map(|entry| (works[entry.what as usize], entry.start));
        let calls = trace.calls.iter().chain(&trace.operators).map(|call| (callees[call.what as usize], call.start));
        let ranges = trace.ranges.iter().map(|range| (labels[range.label as usize], range.start));
        let of_devices = earliest(operations, keys.all().len());
        let of_hosts = earliest(calls.chain(ranges), keys.all().len());

        let edge = |origin: i64, offset: Option<i64>, open| offset.map_or(open, |offset| origin.saturating_add(offset));
        let origins = of_devices.into_iter().zip(of_hosts).map(|(device, host)| device.or(host).unwrap_or_default());
        let windows: Vec<Window> = collected(
            origins
                .map(|origin| Window { from: edge(origin, since_ns, i64::MIN), to: edge(origin, until_ns, i64::MAX) }),
        );
        let each = |places: Vec<usize>| collected(places.into_iter().map(|place| windows[place]));
        Self { works: each(works), callees: each(callees), labels: each(labels) }
    }
}

/// Returns the first start at each of `count` places.
fn earliest(starts: impl Iterator<Item = (usize, i64)>, count: usize) -> Vec<Option<i64>> {
    let mut first: Vec<Option<i64>> = filled(None, count);
    for (place, start) in starts {
        let known = &mut first[place];
        *known = Some(known.map_or(start, |known| known.min(start)));
    }
    first
}

#[cfg(test)]
mod tests {
    use crate::trace::aggregate::Selection;
    use crate::trace::aggregate::made::Made;
    use crate::trace::{Capture, Entry, Reach};

    const MINUTE: i64 = 60_000_000_000;

    fn window(since_ns: Option<i64>, until_ns: Option<i64>) -> Selection {
        Selection { since_ns, until_ns, ..Selection::default() }
    }

    /// Captures of one clock: the second had no event in the window of the first.
    #[test]
    fn each_capture_has_its_own_origin() {
        let mut made = Made::new();
        for (capture, begin) in [0, MINUTE].into_iter().enumerate() {
            if capture > 0 {
                made.next_capture();
            }
            for at in [begin, begin + 50] {
                made.range(1, Reach::Process, "step", at, Some(at + 9));
                made.launch((1, 1), at, "k", 0, (at + 2, at + 7));
            }
        }
        made.trace.captures.push(Capture::default());
        for (selection, host, devices) in
            [(window(None, Some(10)), 2, 2), (window(Some(10), None), 2, 2), (window(Some(-2), Some(60)), 4, 4)]
        {
            let found = made.summary(selection);
            assert_eq!(found.kernels.iter().map(|row| row.count).sum::<u64>(), devices);
            assert_eq!(found.api_calls.iter().map(|row| row.count).sum::<u64>(), host);
            assert_eq!(found.ranges.iter().map(|row| row.count).sum::<u64>(), host);
            assert_eq!(found.ranks.iter().map(|row| row.kernel_count).collect::<Vec<_>>(), [devices / 2; 2]);
        }
    }

    /// The start of the window removed everything, and its end nothing.
    #[test]
    fn captures_without_device_operations_begin_with_their_first_event() {
        let mut made = Made::new();
        made.range(1, Reach::Process, "step", MINUTE, Some(MINUTE + 90));
        made.call((Some(1), Some(1)), "cudaFree", (MINUTE + 10, MINUTE + 20), 1);
        let name = made.trace.names.intern("aten::mm");
        let what = made.trace.callee(0, Some(1), Some(1), name);
        made.trace.operators.push(Entry { what, start: MINUTE + 30, end: MINUTE + 40, bytes: 0, correlation: 0 });
        let counts = |selection| {
            let found = made.summary(selection);
            (found.ranges.len(), found.api_calls.len(), found.cpu_operators.len())
        };
        assert_eq!(counts(window(Some(0), None)), (1, 1, 1));
        assert_eq!(counts(window(None, Some(30))), (1, 1, 0));
        assert_eq!(counts(window(Some(1), Some(31))), (0, 1, 1));
    }
}
