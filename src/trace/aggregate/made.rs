//! Traces made for tests.

use super::{Options, Selection};
use crate::trace::categories::Categories;
use crate::trace::{
    Capture, Entry, KernelName, Kind, Label, Queue, Range, Reach, Shape, Source, Summary, Trace, Work, summarize,
};

/// A trace with one clock.
pub(super) struct Made {
    pub(super) trace: Trace,
    launches: u64,
}

/// Place of an operation: number of the device, and its process.
pub(super) type On = (i64, Option<i64>);

/// Options with which everything counts.
pub(super) fn options(categories: &Categories) -> Options<'_> {
    Options::new(categories)
}

impl Made {
    pub(super) fn new() -> Self {
        let mut trace = Trace::default();
        trace.add_clock("clock".to_owned());
        Self { trace, launches: 0 }
    }

    /// Begins another capture with the same clock.
    pub(super) fn next_capture(&mut self) {
        self.trace.captures.push(Capture::default());
    }

    /// A kernel that ran from start to end, launched by the call of a correlation.
    pub(super) fn kernel(&mut self, (device, process): On, (start, end): (i64, i64), correlation: u64) {
        self.run((device, process), (start, end), correlation, "kernel", false);
    }

    /// The same under any name; `memcpy …` is a copy.
    pub(super) fn run(&mut self, on: On, (start, end): (i64, i64), correlation: u64, name: &str, in_graph: bool) {
        let trace = &mut self.trace;
        let full = trace.names.intern(name);
        let queue = Queue { device: trace.device(0, on.1, Some(on.0)), stream: None };
        let is_copy = name.starts_with("memcpy");
        let kind = if is_copy {
            Kind::Memory { name: full, kind: full, sized: false }
        } else {
            Kind::Kernel(KernelName { full, short: None, mangled: None }, Shape::default())
        };
        let what = trace.works.intern(Work { queue, in_graph, kind });
        let entry = Entry { what, start, end, bytes: 0, correlation };
        if is_copy { &mut trace.memory } else { &mut trace.kernels }.push(entry);
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
        let what = self.trace.callee(0, process_id, thread_id, name);
        self.trace.calls.push(Entry { what, start, end, bytes: 0, correlation });
    }

    /// Adds a call at `at` on a thread, and its activity on the device of that number.
    pub(super) fn launch(&mut self, (process, thread): (i64, i64), at: i64, name: &str, device: i64, ran: (i64, i64)) {
        self.launches += 1;
        self.call((Some(process), Some(thread)), "cudaLaunchKernel", (at, at.saturating_add(1)), self.launches);
        self.run((device, Some(process)), ran, self.launches, name, false);
    }

    /// A range of a process, in the domain without a name.
    pub(super) fn range(&mut self, process: i64, reach: Reach, name: &str, start: i64, end: Option<i64>) {
        self.range_of(process, reach, name, (start, end), None);
    }

    /// The same in a file of one runner.
    pub(super) fn range_of(
        &mut self,
        process: i64,
        reach: Reach,
        name: &str,
        (start, end): (i64, Option<i64>),
        runner: Option<&str>,
    ) {
        let (name, runner) = (self.trace.names.intern(name), runner.map(|runner| self.trace.names.intern(runner)));
        let (process_id, domain, source) = (Some(process), None, Source::Nvtx);
        let capture = self.trace.captures.len() as u32;
        let label = Label { capture, clock: 0, process_id, reach, name, domain, source, runner };
        let label = self.trace.labels.intern(label);
        self.trace.ranges.push(Range { label, start, end });
    }

    pub(super) fn summary(&self, selection: Selection) -> Summary {
        let (categories, data_loaders) = (Categories::built_in(), vec!["prefetch".to_owned()]);
        summarize(&self.trace, &Options { selection, data_loaders, ..options(&categories) })
    }
}
