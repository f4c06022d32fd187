//! Numbers as 64-bit floats.

use pyo3::prelude::*;

use super::samples::Samples;

/// Reads the argument called `name`: one dimension of numbers, as a copy that no other thread changes.
pub(in crate::python) fn floats(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(Samples::read_once(name, object)?.into_owned())
}
