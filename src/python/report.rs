//! Output formats of a run and of a comparison.

use pyo3::prelude::*;

use crate::error::{Error, Result};
use crate::report::{self, Row, Table};

/// A run file, given as JSON, in the output format called `name`.
///
/// Raises:
///     ValueError: There is no such format, or the text is not a run file.
#[pyfunction]
pub(super) fn render_run(py: Python<'_>, document: &str, name: &str) -> Result<String> {
    py.detach(|| report::render(document, name))
}

/// Every output format of a run as (name, description).
#[pyfunction]
pub(super) fn run_formats() -> Vec<(&'static str, &'static str)> {
    report::FORMATS.iter().map(|format| (format.name, format.description)).collect()
}

/// The tables of the sweep in a run file, given as JSON; empty where the run is none.
///
/// Raises:
///     ValueError: The text is not a run file.
#[pyfunction]
pub(super) fn render_sweep(py: Python<'_>, document: &str) -> Result<String> {
    py.detach(|| report::render_sweep(document))
}

/// A comparison, given as JSON, in the output format called `name`.
///
/// Raises:
///     ValueError: There is no such format, or the text is not a comparison.
#[pyfunction]
pub(super) fn render_comparison(py: Python<'_>, document: &str, name: &str) -> Result<String> {
    py.detach(|| report::comparison::render(document, name))
}

/// Every output format of a comparison as (name, description).
#[pyfunction]
pub(super) fn comparison_formats() -> Vec<(&'static str, &'static str)> {
    report::comparison::FORMATS.iter().map(|format| (format.name, format.description)).collect()
}

/// The table of a run, for rows that arrive one by one.
///
/// Args:
///     names: The runners that may come; the first column is as wide as the longest.
///     separator: What stands between two fields.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct RunTable(Table);

#[pymethods]
impl RunTable {
    #[new]
    #[pyo3(signature = (names, separator = " "))]
    #[allow(clippy::needless_pass_by_value, reason = "a Python list arrives as a vector of its own")]
    fn new(names: Vec<String>, separator: &str) -> Self {
        Self(Table::new(names.iter().map(String::as_str), separator))
    }

    /// The line of headings.
    fn header(&self) -> String {
        self.0.header()
    }

    /// The line of one entry of a run file's `results`, given as JSON.
    ///
    /// Raises:
    ///     ValueError: It is not one.
    fn row(&self, result: &str) -> Result<String> {
        let row: Row = serde_json::from_str(result).map_err(|error| Error::NotARun { reason: error.to_string() })?;
        Ok(self.0.row(&row))
    }
}
