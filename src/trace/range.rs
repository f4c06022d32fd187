//! Spans of time that the program gave a name: ranges of NVTX, annotations of torch's profiler.

use serde::{Deserialize, Serialize};

use super::names::NameId;

/// Tool that recorded a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Source {
    /// NVTX.
    Nvtx,
    /// `torch.profiler.record_function`.
    RecordFunction,
}

/// Threads whose calls belong to a range while it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reach {
    /// Those of one thread, by the number that the capture gives it: pushed and popped ranges nest within their thread.
    Thread(Option<i64>),
    /// All threads of the process: a range that is started and ended names the work of the process.
    Process,
}

/// Everything about a range but its times: few distinct ones, each entered many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Label {
    /// Place in [`super::Trace::captures`] of the capture that records the ranges.
    pub capture: u32,
    /// A place in [`super::Trace::clocks`].
    pub clock: u32,
    /// The process that named it.
    pub process_id: Option<i64>,
    /// Threads whose calls belong to it.
    pub reach: Reach,
    /// Its name.
    pub name: NameId,
    /// Its domain; `None` for the one without a name.
    pub domain: Option<NameId>,
    /// Tool that recorded it.
    pub source: Source,
    /// The runner of its file, where that is known apart from the name of the range.
    pub runner: Option<NameId>,
}

/// One time that a range was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// A place in [`super::Trace::labels`].
    pub label: u32,
    /// Nanoseconds on its clock.
    pub start: i64,
    /// Never before the start; `None` if it was never closed.
    pub end: Option<i64>,
}
