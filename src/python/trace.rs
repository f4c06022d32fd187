//! Captures: reading, summaries and categories of kernels.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use regex::Regex;

use super::convert::plain;
use super::interrupt::interruptibly;
use crate::error::Error;
use crate::guard::{guarded, guarded_value};
use crate::memory;
use crate::trace::categories::Categories;
use crate::trace::readers::{self, Given, Reading};
use crate::trace::timeline;
use crate::trace::{self, Extent, KernelsBy, Selection};

/// Events of one or more captures.
///
/// Args:
///     paths: Files, each with its name in messages; formats are recognised by content.
///     optional: For each file, True if it may be no capture, and is then skipped; False for missing entries.
///     runners: For each file, its only runner, if known; None for missing entries.
///     first: Number of files in front of these in the trace that this will be joined to.
///     threads: Number of threads that read; the number of cores by default.
///     extent: Tables to read, if a format has tables that can be skipped: "whole", "devices" without calls and ranges, or
///         "kernels" alone.
///
/// Raises:
///     ValueError: If a file cannot be read, or is not a capture of a known format; the second argument is a hint.
///     KeyboardInterrupt: On Ctrl-C.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Trace(trace::Trace);

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (paths, *, optional = Vec::new(), runners = Vec::new(), first = 0, threads = None, extent = "whole"))]
    #[allow(clippy::needless_pass_by_value, reason = "a Python list arrives as a vector of its own")]
    fn new(
        py: Python<'_>,
        paths: Vec<(PathBuf, String)>,
        optional: Vec<bool>,
        runners: Vec<Option<String>>,
        first: usize,
        threads: Option<usize>,
        extent: &str,
    ) -> PyResult<Self> {
        guarded(|| {
            let optional = optional.into_iter().chain(std::iter::repeat(false));
            let runners = runners.into_iter().chain(std::iter::repeat(None));
            let files = paths.into_iter().zip(optional).zip(runners);
            let given = |(((path, shown), optional), runner)| Given { path, shown, optional, runner };
            let files: Vec<_> = files.map(given).collect();
            let reading = Reading { first, threads, extent: Extent::named("extent", extent)? };
            Ok(Self(interruptibly(py, |interrupted| readers::read_all(&files, reading, interrupted))?))
        })
    }

    /// Reads a trace that `to_bytes` wrote.
    ///
    /// Raises:
    ///     ValueError: If the bytes are of another version, or damaged.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self(py.detach(|| trace::Trace::from_bytes(data))?)))
    }

    /// Returns all data as bytes, for another process with the same version.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| bytes(py, &py.detach(|| self.0.to_bytes())?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        guarded(|| {
            let bytes = slf.get().to_bytes(slf.py())?;
            Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
        })
    }

    /// Joins the events of several traces.
    ///
    /// Args:
    ///     parts: Bytes of each trace by `to_bytes`, in order; a part is read when those in front of it have been read.
    ///
    /// Raises:
    ///     ValueError: If a part is of another version, or damaged.
    #[classmethod]
    fn joined(_class: &Bound<'_, PyType>, py: Python<'_>, parts: &Bound<'_, PyAny>) -> PyResult<Self> {
        guarded(|| {
            let mut whole = trace::Trace::default();
            for part in parts.try_iter()? {
                py.check_signals()?;
                let part = part?.cast_into::<PyBytes>()?;
                let data = part.as_bytes();
                py.detach(|| trace::Trace::from_bytes(data).map(|part| whole.append(part)))?;
            }
            Ok(Self(whole))
        })
    }

    /// Returns the number of files that were captures.
    #[getter]
    fn capture_count(&self) -> PyResult<usize> {
        guarded_value(|| self.0.captures.len())
    }

    /// Returns the files that were skipped, each with the reason.
    #[getter]
    fn left_out(&self) -> PyResult<Vec<(&str, &str)>> {
        guarded_value(|| self.0.left_out.iter().map(|file| (file.path.as_str(), file.reason.as_str())).collect())
    }

    /// Summarizes the events.
    ///
    /// Args:
    ///     devices: Numbers of included devices; all if empty.
    ///     streams: Numbers of included streams; all if empty.
    ///     processes: Numbers of included processes; all if empty.
    ///     pattern: Regular expression for the names of included events.
    ///     since_ns: Start of the time window, in nanoseconds after the first device operation.
    ///     until_ns: End of the time window, likewise; operations that start later are excluded.
    ///     kernels_by: Grouping of kernel rows: "device" for name and device, "name" over all devices, or "shape" for
    ///         name, grid and block over all devices.
    ///     categories: Rules that precede the built-in ones.
    ///     iteration_range: Name of the ranges that mark iterations.
    ///     data_loaders: Texts in the names of ranges in which a thread waits for data.
    ///     sequence_length: Number of steps of a sequence of the captured model.
    ///     inductor: Name of a benchmark, wall time of a run in nanoseconds and number of runs, for Inductor's view.
    ///     plot_data: True for the parts of the document that only plots show: activity over time, histograms of delays
    ///         and nested ranges.
    ///
    /// Raises:
    ///     ValueError: If the pattern or the rules are invalid.
    #[pyo3(signature = (*, devices = Vec::new(), streams = Vec::new(), processes = Vec::new(), pattern = None,
        since_ns = None, until_ns = None, kernels_by = "device", categories = None, iteration_range = None,
        data_loaders = Vec::new(), sequence_length = None, inductor = None, plot_data = false))]
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
        kernels_by: &str,
        categories: Option<&str>,
        iteration_range: Option<String>,
        data_loaders: Vec<String>,
        sequence_length: Option<u64>,
        inductor: Option<(String, f64, u64)>,
        plot_data: bool,
    ) -> PyResult<TraceSummary> {
        guarded(|| {
            let filter = pattern.map(expression).transpose()?;
            let selection = Selection { devices, streams, processes, filter, since_ns, until_ns };
            let inductor = inductor.map(|(name, wall_time_ns, runs)| trace::Benchmark { name, wall_time_ns, runs });
            Ok(py.detach(|| {
                let categories = Categories::with_rules(categories.unwrap_or_default())?;
                let options = trace::Options {
                    selection,
                    kernels_by: KernelsBy::named("kernels_by", kernels_by)?,
                    categories: &categories,
                    inductor,
                    iteration_range,
                    data_loaders,
                    sequence_length,
                    plot_data,
                };
                Ok::<_, Error>(TraceSummary(trace::summarize(&self.0, &options)))
            })?)
        })
    }

    /// Returns the time of each kernel and memory operation per iteration.
    ///
    /// Args:
    ///     iteration_range: Name of the ranges that mark iterations.
    ///     categories: Rules that precede the built-in ones.
    ///
    /// Returns:
    ///     JSON: `captures` and `warnings` of a summary, the names of `devices`, `iterations` in each repeat, and `rows`.
    ///
    /// Raises:
    ///     ValueError: If the rules are invalid.
    #[pyo3(signature = (*, iteration_range = None, categories = None))]
    fn repeats(&self, py: Python<'_>, iteration_range: Option<String>, categories: Option<&str>) -> PyResult<String> {
        guarded(|| {
            Ok(py.detach(|| {
                let categories = Categories::with_rules(categories.unwrap_or_default())?;
                let options = trace::Options { iteration_range, ..trace::Options::new(&categories) };
                let found = trace::repeats(&self.0, &options);
                let mut text = memory::Grown::default();
                serde_json::to_writer(&mut text, &found)
                    .map_err(|error| Error::NotARun { reason: error.to_string() })?;
                String::from_utf8(text.0).map_err(|error| Error::NotARun { reason: error.to_string() })
            })?)
        })
    }

    /// Draws the events: one trace in Chrome's trace event format.
    ///
    /// Args:
    ///     path: Path of the file, which is overwritten.
    ///     compress: True to compress with gzip.
    ///     devices: Numbers of included devices; see `summarize` for this and the rest.
    ///     streams: Numbers of included streams.
    ///     processes: Numbers of included processes.
    ///     pattern: Regular expression.
    ///     since_ns: Start of the time window, in nanoseconds after the first device operation.
    ///     until_ns: End of the time window, likewise.
    ///     data_loaders: Texts in the names of ranges in which a thread waits for data.
    ///
    /// Raises:
    ///     OSError: If the file cannot be written.
    ///     ValueError: If the pattern is invalid.
    ///     KeyboardInterrupt: On Ctrl-C.
    #[pyo3(signature = (path, *, compress = true, devices = Vec::new(), streams = Vec::new(), processes = Vec::new(),
        pattern = None, since_ns = None, until_ns = None, data_loaders = Vec::new()))]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keywords of Python")]
    fn draw(
        &self,
        py: Python<'_>,
        path: PathBuf,
        compress: bool,
        devices: Vec<i64>,
        streams: Vec<i64>,
        processes: Vec<i64>,
        pattern: Option<&str>,
        since_ns: Option<i64>,
        until_ns: Option<i64>,
        data_loaders: Vec<String>,
    ) -> PyResult<()> {
        guarded(|| {
            let filter = pattern.map(expression).transpose()?;
            let selection = Selection { devices, streams, processes, filter, since_ns, until_ns };
            let file = File::create(path)?;
            interruptibly(py, |interrupted| {
                timeline::write(&trace::Timeline::new(&self.0, &selection, &data_loaders), file, compress, interrupted)
            })
        })
    }
}

/// A copy for Python.
pub(super) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |place| {
        place.copy_from_slice(bytes);
        Ok(())
    })
}

fn expression(pattern: &str) -> PyResult<Regex> {
    Regex::new(pattern).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A summary of captures.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct TraceSummary(trace::Summary);

#[pymethods]
impl TraceSummary {
    /// Returns the JSON document `fastrnns-rs/summary`, indented and safe to print.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        guarded_value(|| py.detach(|| self.0.to_json()))
    }

    /// Passes the same document to a function, piece by piece as bytes.
    fn write_json(&self, py: Python<'_>, write: Py<PyAny>) -> PyResult<()> {
        guarded(|| py.detach(|| self.0.write_json(Pieces(write))).map_err(PyErr::from))
    }

    /// Reads a summary that `to_bytes` wrote.
    ///
    /// Raises:
    ///     ValueError: If the bytes are of another version, or damaged.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self(py.detach(|| trace::Summary::from_bytes(data))?)))
    }

    /// Returns all data as bytes, for another process with the same version.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| bytes(py, &py.detach(|| self.0.to_bytes())?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        guarded(|| Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,))))
    }

    /// Returns the warnings of the document, as plain dictionaries.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| plain(py, &self.0.warnings))
    }

    /// Returns the same document as plain dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| plain(py, &self.0))
    }
}

/// Python function that takes bytes, as a writer.
struct Pieces(Py<PyAny>);

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let written = Python::try_attach(|py| {
            py.check_signals()?;
            self.0.call1(py, (bytes(py, piece)?,)).map(|_| piece.len())
        });
        // A daemon thread may be here while the interpreter ends.
        written.ok_or_else(|| io::Error::other("the interpreter ends"))?.map_err(io::Error::from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes this process return freed memory to the system at once.
///
/// For commands that read large captures.
#[pyfunction]
pub(super) fn return_freed_memory() -> PyResult<()> {
    guarded_value(memory::return_freed)
}

/// Returns every capture format as (name, description).
#[pyfunction]
pub(super) fn capture_formats() -> PyResult<Vec<(&'static str, &'static str)>> {
    guarded_value(|| readers::FORMATS.iter().map(|format| (format.name, format.description)).collect())
}

/// Returns True if a message of a profiler says that it lost events.
#[pyfunction]
pub(super) fn reports_loss(message: &str) -> PyResult<bool> {
    guarded_value(|| readers::reports_loss(message))
}

/// Returns the category of a kernel by its whole name, demangled or mangled.
#[pyfunction]
pub(super) fn kernel_category(name: &str) -> PyResult<String> {
    guarded_value(|| Categories::built_in().of(name).to_owned())
}

/// Returns the category of an Inductor kernel by its source.
///
/// It is the heuristic that decorates the kernel, or `unknown`.
#[pyfunction]
pub(super) fn kernel_category_by_source(source: &str) -> PyResult<&'static str> {
    guarded_value(|| Categories::of_source(source))
}
