//! What a device or a thread did, time left out: few distinct ones, each done many times.

use serde::{Deserialize, Serialize};

use super::names::NameId;

/// A queue of work of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Queue {
    /// Where its device stands in [`super::Trace::devices`].
    pub device: u32,
    /// Its number, where the capture says one.
    pub stream: Option<i64>,
}

/// How a kernel was launched; what is not known is `None`.
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

/// What ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A kernel.
    Kernel(KernelName, Shape),
    /// A copy or a set: `memcpy HtoD`, `memset`.
    Memory {
        /// What the capture calls it.
        name: NameId,
        /// What it is called in summaries.
        kind: NameId,
        /// Whether the capture says how many bytes it moved.
        sized: bool,
    },
}

/// A distinct piece of a device's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Work {
    /// Where it ran.
    pub queue: Queue,
    /// Whether it ran as a node of a graph, as far as the capture says so.
    pub in_graph: bool,
    /// What ran.
    pub kind: Kind,
}
