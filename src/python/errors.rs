//! Errors of the core as Python's exceptions: what a caller passed is a `ValueError`.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

use crate::error::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        PyValueError::new_err(error.to_string())
    }
}
