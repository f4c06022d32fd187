//! The core of fastrnns-rs: statistics, timing, other programs, their traces, and reports.
//!
//! Pure Rust by default, so that it builds without an interpreter. The feature `python` adds the binding,
//! which maturin builds into the extension module `fastrnns_rs._core`.
//!
//! - [`stats`] describes samples.
//! - [`timing`] records the edges of timed regions.
//! - [`orchestrate`] runs other programs and leaves nothing of them behind.
//! - [`trace`] reads what profilers wrote and makes a summary of it.
//! - [`units`] holds the one rule by which numbers are shown.

pub mod error;
#[cfg_attr(not(feature = "python"), allow(dead_code, reason = "the binding ends calls"))]
mod memory;
pub mod orchestrate;
#[cfg_attr(not(feature = "python"), allow(dead_code, reason = "the binding ends calls"))]
mod panics;
mod par;
mod results;
mod simd;
pub mod stats;
pub mod timing;
pub mod trace;
pub mod units;

#[cfg(feature = "python")]
mod guard;
#[cfg(feature = "python")]
mod python;

// What is fuzzed refers to this package by its name.
#[cfg(test)]
extern crate self as fastrnns_rs;
#[cfg(test)]
mod fuzz_seeds;
