//! Arguments from Python: numbers of arrays and of any sequence. Documents for Python.

mod array;
mod floats;
mod plain;
mod processes;
mod samples;
mod whole;

pub(super) use floats::floats;
pub(super) use plain::plain;
pub(super) use processes::Processes;
pub(super) use samples::{Samples, with_slice};
pub(super) use whole::{Rows, threads, whole, whole_or};
