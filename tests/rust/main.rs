//! The core from outside: statistics, commands under supervision, and names and categories of kernels.

mod categories;
mod orchestrate;
mod profilers;
mod samples;
mod short_name;
mod stats_bootstrap;
mod stats_decisions;
mod stats_description;
mod stats_hypotheses;
mod stats_intervals;
mod stats_series;
