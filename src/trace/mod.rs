//! Reads what profilers wrote and makes one summary of it.
//!
//! Data goes one way: a file → the reader of its format → a [`Trace`] → [`summarize`] → a [`Summary`].
//!
//! - [`readers`] has a file for each format, told apart by content.
//! - [`Trace`] holds events compactly: [`Log`] what happened when, [`Work`] and [`Names`] what that was.
//! - [`categories`] sorts kernels by what they compute.

mod aggregate;
mod capture;
pub mod categories;
mod distinct;
mod intervals;
mod log;
mod names;
pub mod readers;
mod short_name;
mod summary;
#[allow(clippy::module_inception, reason = "the thing that the part is about")]
mod trace;
mod work;

pub use aggregate::{Benchmark, Options, Selection, summarize};
pub use capture::{Capture, Skipped, Warning};
pub use distinct::Distinct;
pub use intervals::Busy;
pub use log::{Entry, Log};
pub use names::{NameId, Names};
pub use short_name::short_name;
pub use summary::{
    ApiRow, CategoryRow, DeviceRow, Figures, Inductor, InductorCategory, InductorKernel, KernelRow, MemoryRow,
    StreamRow, Summary,
};
pub use trace::{Callee, Device, Trace};
pub use work::{KernelName, Kind, Queue, Shape, Work};
