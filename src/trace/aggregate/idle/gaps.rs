//! Finds idle intervals, and cuts off the part that the launch of the next operation explains.

use super::host::Host;
use super::{Before, Cause, Cut};
use crate::memory::collected;
use crate::trace::aggregate::coverage::Coverage;
use crate::trace::aggregate::launched::Launch;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Entry, Trace};

/// Takes operations in the order of their starts, and gives pieces of the idle intervals between them.
pub(in crate::trace::aggregate) struct Gaps<'a> {
    trace: &'a Trace,
    /// By number of work: the device as summaries have it.
    device_of: Vec<u32>,
    /// For each of these, the operation with which it was busy for the longest so far.
    last: Vec<Option<Entry>>,
    /// By callee: whether it launches graphs.
    launches_graphs: Vec<bool>,
    host: Host<'a>,
    coverage: &'a Coverage,
}

impl<'a> Gaps<'a> {
    /// `data_loaders` are found in the names of ranges in which a thread waits for data. If `each`, all pieces are given;
    /// otherwise those of an interval and a cause may be given as one.
    pub(in crate::trace::aggregate) fn new(
        trace: &'a Trace,
        chosen: &'a Chosen<'_>,
        data_loaders: &[String],
        each: bool,
    ) -> Self {
        let works = trace.works.all().iter();
        let callees = trace.callees.all().iter();
        Self {
            trace,
            device_of: collected(works.map(|work| chosen.device_of[work.queue.device as usize])),
            last: vec![None; chosen.devices.all().len()],
            launches_graphs: collected(callees.map(|callee| trace.names.text(callee.name).contains("GraphLaunch"))),
            host: Host::new(trace, chosen, data_loaders, each),
            coverage: chosen.coverage(),
        }
    }

    /// Takes an operation that counts. Not all pieces of the interval before it need be given at once.
    #[inline]
    pub(in crate::trace::aggregate) fn add(
        &mut self,
        entry: &Entry,
        launch: Option<&Launch>,
        take: &mut impl FnMut(Cut),
    ) {
        let device = self.device_of[entry.what as usize] as usize;
        match self.last[device] {
            Some(last) if entry.start > last.end => {
                if self.coverage.holds(device, last.end, entry.start) {
                    self.cut(&last, entry, launch, take);
                }
                self.last[device] = Some(*entry);
            }
            Some(last) if entry.end < last.end => {}
            _ => self.last[device] = Some(*entry),
        }
    }

    /// Gives all pieces that are left.
    pub(in crate::trace::aggregate) fn finish(&mut self, take: &mut impl FnMut(Cut)) {
        self.host.explain(take);
    }

    fn cut(&mut self, last: &Entry, next: &Entry, launch: Option<&Launch>, take: &mut impl FnMut(Cut)) {
        let device = self.trace.works.all()[next.what as usize].queue.device;
        let in_stream = self.is_one_stream(last, next);
        let mut give = |start, end, cause| {
            if end > start {
                take(Cut { device, start, end, cause, count: 1, in_stream: in_stream && cause == Cause::Dependency });
            }
        };
        let (start, end) = (last.end, next.start);
        if self.is_one_graph(last, next, launch) {
            return give(start, end, Cause::GraphGap);
        }
        let Some(launch) = launch else { return give(start, end, Cause::Unmatched) };
        if launch.end <= start {
            return give(start, end, Cause::Dependency);
        }
        let begun = launch.start.clamp(start, end);
        give(begun, end, Cause::Launch);
        if begun > start {
            self.host.add(Before { callee: launch.callee, device, start, end: begun }, take);
        }
    }

    /// Returns true if two operations of a device are of the same stream, which is known.
    fn is_one_stream(&self, one: &Entry, other: &Entry) -> bool {
        let stream = |entry: &Entry| self.trace.works.all()[entry.what as usize].queue.stream;
        stream(one).is_some() && stream(one) == stream(other)
    }

    /// Returns true if two operations of a device come from the same launch of a graph.
    fn is_one_graph(&self, one: &Entry, other: &Entry, launch: Option<&Launch>) -> bool {
        let in_graph = |entry: &Entry| self.trace.works.all()[entry.what as usize].in_graph;
        one.correlation != 0
            && one.correlation == other.correlation
            && ((in_graph(one) && in_graph(other))
                || launch.is_some_and(|launch| self.launches_graphs[launch.callee as usize]))
    }
}
