//! PyTorch's own profiler: it lives inside the command, which writes the files itself and says in its answer which.

use super::{Installation, Profiler};

pub(super) struct Torch;

impl Profiler for Torch {
    fn name(&self) -> &'static str {
        "torch"
    }

    fn capabilities(&self, _tool: &Installation) -> Vec<&'static str> {
        vec!["cpu", "cuda", "kineto", "memory", "schedule", "stacks"]
    }
}
