//! No profiler: the plain command, as baseline of the others.

use super::Profiler;

pub(super) struct None;

impl Profiler for None {
    fn name(&self) -> &'static str {
        "none"
    }
}
