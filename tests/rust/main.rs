//! The core from outside: properties of the statistics, and every output format of a run.

mod report;
mod stats;
