//! The core from outside: statistics, commands under supervision, names and categories of kernels, and every output
//! format of a run and of a summary.

mod categories;
mod orchestrate;
mod profilers;
mod report;
mod short_name;
mod stats;
mod summary_report;
