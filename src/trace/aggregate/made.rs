//! Traces made for tests.

use super::{Options, Selection};
use crate::trace::categories::Categories;
use crate::trace::{
    Callee, Entry, KernelName, Kind, Label, Queue, Range, Reach, Shape, Source, Summary, Trace, Work, summarize,
};

/// A trace with one clock.
pub(super) struct Made {
    pub(super) trace: Trace,
}

/// Where something ran: number of the device, its process.
pub(super) type On = (i64, Option<i64>);

impl Made {
    pub(super) fn new() -> Self {
        let mut trace = Trace::default();
        trace.add_clock("clock".to_owned());
        Self { trace }
    }

    /// A kernel that ran from start to end, launched by the call of a correlation.
    pub(super) fn kernel(&mut self, (device, process): On, (start, end): (i64, i64), correlation: u64) {
        self.run((device, process), (start, end), correlation, "kernel", false);
    }

    /// The same as a node of a graph.
    pub(super) fn node(&mut self, (device, process): On, (start, end): (i64, i64), correlation: u64) {
        self.run((device, process), (start, end), correlation, "kernel", true);
    }

    pub(super) fn run(&mut self, on: On, (start, end): (i64, i64), correlation: u64, name: &str, in_graph: bool) {
        let full = self.trace.names.intern(name);
        let queue = Queue { device: self.trace.device(0, on.1, Some(on.0)), stream: None };
        let kind = Kind::Kernel(KernelName { full, short: None, mangled: None }, Shape::default());
        let what = self.trace.works.intern(Work { queue, in_graph, kind });
        self.trace.kernels.push(Entry { what, start, end, bytes: 0, correlation });
    }

    /// A call by a process and a thread.
    pub(super) fn call(
        &mut self,
        (process_id, thread_id): (Option<i64>, Option<i64>),
        name: &str,
        (start, end): (i64, i64),
        correlation: u64,
    ) {
        let name = self.trace.names.intern(name);
        let what = self.trace.callees.intern(Callee { clock: 0, process_id, thread_id, name });
        self.trace.calls.push(Entry { what, start, end, bytes: 0, correlation });
    }

    /// A range of a process.
    pub(super) fn range(&mut self, process_id: Option<i64>, reach: Reach, name: &str, span: (i64, Option<i64>)) {
        let name = self.trace.names.intern(name);
        let label = Label { clock: 0, process_id, reach, name, domain: None, source: Source::Nvtx };
        let label = self.trace.labels.intern(label);
        self.trace.ranges.push(Range { label, start: span.0, end: span.1 });
    }

    pub(super) fn summary(&self, selection: Selection) -> Summary {
        let options = Options {
            selection,
            by_shape: false,
            categories: &Categories::built_in(),
            inductor: None,
            iteration_range: None,
            data_loaders: vec!["prefetch".to_owned()],
            sequence_length: None,
        };
        summarize(&self.trace, &options)
    }
}
