//! What a capture says of many events together, none of which it tells.

use serde::{Deserialize, Serialize};

use super::names::NameId;
use super::work::KernelName;

/// Whose total it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TotalKind {
    /// The runs of a kernel.
    Kernel(KernelName),
    /// Copies or sets of a kind.
    Memory(NameId),
    /// Calls of a function.
    Call(NameId),
}

/// How often something ran, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// What ran.
    pub kind: TotalKind,
    /// Where, if that is told.
    pub device_id: Option<i64>,
    /// How often: at least once.
    pub count: u64,
    /// How long, all together.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest: no longer than all together.
    pub max_ns: u64,
}

impl Total {
    /// Whether its names are known and its figures go together.
    pub(super) fn fits(&self, kernel: impl Fn(KernelName) -> bool, name: impl Fn(NameId) -> bool) -> bool {
        let named = match self.kind {
            TotalKind::Kernel(names) => kernel(names),
            TotalKind::Memory(kind) => name(kind),
            TotalKind::Call(function) => name(function),
        };
        named && self.count > 0 && self.min_ns <= self.max_ns && self.max_ns <= self.total_ns
    }
}
