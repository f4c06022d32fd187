//! No profiler: the command as it is, for what the others are compared with.

use super::Profiler;

pub(super) struct None;

impl Profiler for None {
    fn name(&self) -> &'static str {
        "none"
    }
}
