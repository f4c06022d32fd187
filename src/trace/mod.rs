//! Reads the files of profilers and makes one summary of them.
//!
//! Data goes one way: a file → the reader of its format → a [`Trace`] → [`summarize`] → a [`Summary`].
//!
//! - [`readers`] has a file for each format, recognised by content.
//! - [`Trace`] holds events compactly: [`Log`] what happened when, [`Work`] and [`Names`] what that was, [`Range`] what the
//!   program called it.
//! - [`categories`] sorts kernels by what they compute.

mod activity;
mod aggregate;
mod capture;
pub mod categories;
mod delays;
mod distinct;
mod document;
pub(crate) mod escape;
mod intervals;
mod log;
mod names;
mod range;
pub mod readers;
mod short_name;
mod summary;
pub mod timeline;
mod total;
#[allow(clippy::module_inception, reason = "the thing that the part is about")]
mod trace;
mod wire;
mod work;

pub use activity::{Activity, ActivityRow, NestedRange};
pub use aggregate::{
    Benchmark, KernelsBy, Options, Piece, RepeatedIteration, RepeatedRow, Repeats, Selection, Timeline, repeats,
    summarize,
};
use capture::counted;
pub use capture::{Capture, LeftOut, Skipped, Warning};
pub use delays::{Histogram, Launches};
pub use distinct::Distinct;
pub use intervals::Busy;
pub use log::{Entries, Entry, IntoEntries, Log};
pub use names::{NameId, Names};
pub use range::{Label, Range, Reach, Source};
pub use short_name::short_name;
pub use summary::{
    ApiRow, Budget, BudgetRow, CategoryRow, CudnnRnnRow, DeviceRow, Difference, Figures, IdleRow, Inductor,
    InductorCategory, InductorKernel, IterationPart, IterationRow, IterationStatistics, KernelRow, MemoryRow,
    MetricRow, OperatorRow, RangeRow, RankRow, StreamRow, Summary,
};
pub use total::{Total, TotalKind};
pub use trace::{Callee, Device, Extent, Trace};
pub use work::{KernelName, Kind, Queue, Shape, Work};
