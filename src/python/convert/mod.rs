//! Arguments from Python: numbers in place where they lie contiguous, anything else by its elements. Documents for Python.

mod floats;
mod json;
mod processes;
mod samples;
mod whole;

pub(super) use floats::Floats;
pub(super) use json::plain;
pub(super) use processes::Processes;
pub(super) use samples::{Samples, with_slice};
pub(super) use whole::{Rows, threads, whole, whole_or};
