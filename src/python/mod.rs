//! The binding: the extension module `fastrnns_rs._core`, flat, with one thin file per topic.
//!
//! The doc comments of exported items are Python's docstrings, and so follow Python's conventions.
#![allow(clippy::doc_markdown, reason = "backticks are not how Python docstrings name arguments")]

mod convert;
mod errors;
mod folder;
mod interrupt;
mod orchestrate;
mod planted;
mod profilers;
mod stats;
mod text;
mod timing;
mod trace;

use pyo3::prelude::pymodule;

/// The Rust core of fastrnns-rs.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::folder::hash_folder;
    #[pymodule_export]
    use super::interrupt::Stop;
    #[pymodule_export]
    use super::orchestrate::{Completed, Process, keep, run_command};
    #[pymodule_export]
    use super::planted::_panic;
    #[pymodule_export]
    use super::profilers::{Profiler, profiler_names};
    #[pymodule_export]
    use super::stats::bootstrap::bootstrap_ci;
    #[pymodule_export]
    use super::stats::decisions::{compare_samples, detection_power, required_processes};
    #[pymodule_export]
    use super::stats::dependence::{autocorrelation, effective_sample_size};
    #[pymodule_export]
    use super::stats::description::{modality, outliers, quantiles, summarize};
    #[pymodule_export]
    use super::stats::growth::growth;
    #[pymodule_export]
    use super::stats::intervals::{mean_ci, median_ci, process_ci};
    #[pymodule_export]
    use super::stats::means::welch;
    #[pymodule_export]
    use super::stats::moments::{Moments, moments};
    #[pymodule_export]
    use super::stats::multiple::{benjamini_hochberg, geometric_mean_ratio};
    #[pymodule_export]
    use super::stats::permutation::permutation_test;
    #[pymodule_export]
    use super::stats::precision::precision_reached;
    #[pymodule_export]
    use super::stats::ranks::{cliffs_delta, hodges_lehmann, mann_whitney};
    #[pymodule_export]
    use super::stats::series::{changepoints, classify_warmup, steady_state};
    #[pymodule_export]
    use super::text::display_width;
    #[pymodule_export]
    use super::timing::{Recorder, clock_resolution_ns};
    #[pymodule_export]
    use super::trace::{
        Trace, TraceSummary, capture_formats, kernel_category, kernel_category_by_source, reports_loss,
        return_freed_memory,
    };
    #[pymodule_export]
    use crate::stats::compare::decisions::{Comparison, DetectionPower, Precision, RequiredProcesses};
    #[pymodule_export]
    use crate::stats::compare::hypotheses::{
        BenjaminiHochberg, GeometricMean, HodgesLehmann, MannWhitney, PermutationTest, Welch,
    };
    #[pymodule_export]
    use crate::stats::describe::{Modality, Mode, Outliers, Summary};
    #[pymodule_export]
    use crate::stats::growth::Growth;
    #[pymodule_export]
    use crate::stats::intervals::bootstrap::BootstrapInterval;
    #[pymodule_export]
    use crate::stats::intervals::{MeanInterval, MedianInterval, ProcessInterval};
    #[pymodule_export]
    use crate::stats::samples::dependence::EffectiveSize;
    #[pymodule_export]
    use crate::stats::series::{ChangePoints, Segment, SteadyState, Warmup};

    /// Version of the package, defined in Cargo.toml.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Profile of the build: `release`, or `debug` without optimisation.
    #[pymodule_export]
    const BUILD_PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };
}
