//! The core of fastrnns-rs: statistics, timing and reports.
//!
//! Pure Rust by default, so that it builds and tests without an interpreter. The feature `python` adds the binding,
//! which maturin builds into the extension module `fastrnns_rs._core`.
//!
//! - [`stats`] describes samples.
//! - [`timing`] records the edges of timed regions.
//! - [`report`] renders a run file.
//! - [`units`] holds the one rule by which numbers are shown.

pub mod error;
pub mod report;
pub mod stats;
pub mod timing;
pub mod units;

#[cfg(feature = "python")]
mod python;
