//! Recording when things began and ended, at the cost of one clock read and one store an edge.

mod clock;
mod recorder;

pub use clock::{Clock, resolution_ns};
pub use recorder::Recorder;
