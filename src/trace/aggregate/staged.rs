//! Traces made for tests.

use crate::trace::{Callee, Entry, KernelName, Kind, Label, Queue, Range, Reach, Shape, Source, Trace, Work};

/// A trace of one clock.
pub(super) struct Staged {
    pub(super) trace: Trace,
    launches: u64,
}

impl Staged {
    pub(super) fn new() -> Self {
        let mut trace = Trace::default();
        trace.add_clock("a".to_owned());
        Self { trace, launches: 0 }
    }

    /// A range of NVTX in the domain without a name.
    pub(super) fn range(&mut self, process: i64, reach: Reach, name: &str, start: i64, end: Option<i64>) {
        let name = self.trace.names.intern(name);
        let label = Label { clock: 0, process_id: Some(process), reach, name, domain: None, source: Source::Nvtx };
        let label = self.trace.labels.intern(label);
        self.trace.ranges.push(Range { label, start, end });
    }

    /// A call at `at` on a thread, and the kernel that it launched on the device of that number; `memcpy …` is a copy.
    pub(super) fn launch(&mut self, (process, thread): (i64, i64), at: i64, name: &str, device: i64, ran: (i64, i64)) {
        self.launches += 1;
        let trace = &mut self.trace;
        let (called, name_id) = (trace.names.intern("cudaLaunchKernel"), trace.names.intern(name));
        let callee = Callee { clock: 0, process_id: Some(process), thread_id: Some(thread), name: called };
        let call = Entry {
            what: trace.callees.intern(callee),
            start: at,
            end: at.saturating_add(1),
            bytes: 0,
            correlation: self.launches,
        };
        let queue = Queue { device: trace.device(0, Some(process), Some(device)), stream: Some(7) };
        let is_copy = name.starts_with("memcpy");
        let kind = if is_copy {
            Kind::Memory { name: name_id, kind: name_id, sized: false }
        } else {
            Kind::Kernel(KernelName { full: name_id, short: None, mangled: None }, Shape::default())
        };
        let what = trace.works.intern(Work { queue, in_graph: false, kind });
        let ran = Entry { what, start: ran.0, end: ran.1, ..call };
        trace.calls.push(call);
        if is_copy { &mut trace.memory } else { &mut trace.kernels }.push(ran);
    }
}
