//! Totals of many events that a capture does not list.

use serde::{Deserialize, Serialize};

use super::names::NameId;
use super::work::KernelName;

/// Kind of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TotalKind {
    /// The runs of a kernel.
    Kernel(KernelName),
    /// Copies or sets of a kind.
    Memory(NameId),
    /// Calls of a function.
    Call(NameId),
}

/// Number of events, and their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Total {
    /// Kind of the events.
    pub kind: TotalKind,
    /// Device, if recorded.
    pub device_id: Option<i64>,
    /// Number of events: at least one.
    pub count: u64,
    /// Total time.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest: no longer than all together.
    pub max_ns: u64,
}

impl Total {
    /// Returns true if its names are known and its figures are consistent.
    pub(super) fn fits(&self, kernel: impl Fn(KernelName) -> bool, name: impl Fn(NameId) -> bool) -> bool {
        let named = match self.kind {
            TotalKind::Kernel(names) => kernel(names),
            TotalKind::Memory(kind) => name(kind),
            TotalKind::Call(function) => name(function),
        };
        named && self.count > 0 && self.min_ns <= self.max_ns && self.max_ns <= self.total_ns
    }
}
