//! Reading captures.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regex::Regex;

use super::interrupt::interruptibly;
use crate::error::{Error, Result};
use crate::report::summary::{self, Choice, FORMATS, NAMES, Options, VIEWS};
use crate::trace::categories::Categories;
use crate::trace::{self, Selection, readers};

/// The events of one or more captures.
///
/// Args:
///     paths: The files, each with the name under which it is shown; what they are is told by their content.
///
/// Raises:
///     ValueError: A file cannot be read, or is no capture of a format that is known; with a hint as second argument.
///     KeyboardInterrupt: Ctrl-C.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Trace(trace::Trace);

#[pymethods]
impl Trace {
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "a Python list arrives as a vector of its own")]
    fn new(py: Python<'_>, paths: Vec<(PathBuf, String)>) -> PyResult<Self> {
        let read = interruptibly(py, |interrupted| {
            let mut trace = trace::Trace::default();
            for (path, shown) in &paths {
                readers::read(path, shown, &mut trace, interrupted)?;
            }
            Ok(trace)
        });
        Ok(Self(read?))
    }

    /// What the events come to.
    ///
    /// Args:
    ///     devices: Numbers of the devices that count; all if empty.
    ///     streams: Numbers of the streams that count; all if empty.
    ///     processes: Numbers of the processes that count; all if empty.
    ///     pattern: A regular expression that is found in the names of what counts.
    ///     since_ns: Nanoseconds after the first device operation; what starts earlier does not count.
    ///     until_ns: The same; what starts then or later does not count.
    ///     by_shape: One row for each kernel, grid and block in place of each kernel and device.
    ///     categories: Rules that go before the built-in ones.
    ///     inductor: The name of a benchmark, the wall time of a run in nanoseconds and the number of runs, for
    ///         Inductor's view.
    ///
    /// Raises:
    ///     ValueError: The pattern or the rules cannot be understood.
    #[pyo3(signature = (*, devices = Vec::new(), streams = Vec::new(), processes = Vec::new(), pattern = None,
        since_ns = None, until_ns = None, by_shape = false, categories = None, inductor = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn summarize(
        &self,
        py: Python<'_>,
        devices: Vec<i64>,
        streams: Vec<i64>,
        processes: Vec<i64>,
        pattern: Option<&str>,
        since_ns: Option<i64>,
        until_ns: Option<i64>,
        by_shape: bool,
        categories: Option<&str>,
        inductor: Option<(String, f64, u64)>,
    ) -> PyResult<TraceSummary> {
        let filter = pattern.map(Regex::new).transpose().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let selection = Selection { devices, streams, processes, filter, since_ns, until_ns };
        let inductor = inductor.map(|(name, wall_time_ns, runs)| trace::Benchmark { name, wall_time_ns, runs });
        Ok(py.detach(|| {
            let categories = Categories::with_rules(categories.unwrap_or_default())?;
            let options = trace::Options { selection, by_shape, categories: &categories, inductor };
            Ok::<_, Error>(TraceSummary(trace::summarize(&self.0, &options)))
        })?)
    }
}

/// A summary of captures.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct TraceSummary(trace::Summary);

#[pymethods]
impl TraceSummary {
    /// The JSON document `fastrnns-rs/summary`, compact.
    ///
    /// Raises:
    ///     ValueError: A figure is not finite.
    fn to_json(&self, py: Python<'_>) -> Result<String> {
        py.detach(|| serde_json::to_string(&self.0)).map_err(|error| Error::NotARun { reason: error.to_string() })
    }

    /// The text of a report.
    ///
    /// Args:
    ///     format: A name of `summary_formats()`.
    ///     by: A name of `summary_views()`.
    ///     top: At most so many rows of a list.
    ///     names: A name of `name_kinds()`.
    ///     width: Columns of the terminal, into which names are cut.
    ///
    /// Raises:
    ///     ValueError: A name is none of these.
    #[pyo3(signature = (format, *, by = "overview", top = None, names = "full", width = None))]
    fn render(
        &self,
        py: Python<'_>,
        format: &str,
        by: &str,
        top: Option<usize>,
        names: &str,
        width: Option<usize>,
    ) -> PyResult<String> {
        let options = Options { view: chosen(VIEWS, by)?, top, names: chosen(NAMES, names)?, width };
        Ok(py.detach(|| summary::render(&self.0, format, &options))?)
    }
}

fn chosen<T: Copy>(choices: &[Choice<T>], name: &str) -> PyResult<T> {
    let found = choices.iter().find(|choice| choice.name == name);
    found.map(|choice| choice.value).ok_or_else(|| PyValueError::new_err(format!("a report knows no {name:?}")))
}

fn described<T>(choices: &[Choice<T>]) -> Vec<(&'static str, &'static str)> {
    choices.iter().map(|choice| (choice.name, choice.description)).collect()
}

/// Every format of captures that is read as (name, description).
#[pyfunction]
pub(super) fn capture_formats() -> Vec<(&'static str, &'static str)> {
    readers::FORMATS.iter().map(|format| (format.name, format.description)).collect()
}

/// Every output format of a summary as (name, description).
#[pyfunction]
pub(super) fn summary_formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().map(|format| (format.name, format.description)).collect()
}

/// Everything that a report can list as (name, description).
#[pyfunction]
pub(super) fn summary_views() -> Vec<(&'static str, &'static str)> {
    described(VIEWS)
}

/// Every kind of kernels' names as (name, description).
#[pyfunction]
pub(super) fn name_kinds() -> Vec<(&'static str, &'static str)> {
    described(NAMES)
}
