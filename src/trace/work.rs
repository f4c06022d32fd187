//! Activities of a device or a thread without times: few distinct ones, each repeated many times.

use serde::{Deserialize, Serialize};

use super::names::NameId;

/// A queue of work of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Queue {
    /// Place of its device in [`super::Trace::devices`].
    pub device: u32,
    /// Its number, where the capture says one.
    pub stream: Option<i64>,
}

/// Launch parameters of a kernel; unknown ones are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Shape {
    /// Blocks in x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block in x, y and z.
    pub block: Option<[u32; 3]>,
    /// Registers of each thread.
    pub registers_per_thread: Option<u32>,
    /// Shared memory of each block, static and dynamic together, in bytes.
    pub shared_memory_bytes: Option<u64>,
}

/// The names of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KernelName {
    /// The whole, demangled where the capture has it so.
    pub full: NameId,
    /// The function's name alone, where the capture has one.
    pub short: Option<NameId>,
    /// The linker's, where the capture has one.
    pub mangled: Option<NameId>,
}

/// Kind of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A kernel.
    Kernel(KernelName, Shape),
    /// A copy or a set: `memcpy HtoD`, `memset`.
    Memory {
        /// Name in the capture.
        name: NameId,
        /// Name in summaries.
        kind: NameId,
        /// True if the capture records the number of bytes that it moved.
        sized: bool,
    },
}

/// A distinct piece of a device's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Work {
    /// Queue on which it ran.
    pub queue: Queue,
    /// True for a node of a graph, as far as the capture records it.
    pub in_graph: bool,
    /// Kind of the activity.
    pub kind: Kind,
}
