//! Numbers as 64-bit floats.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::samples::Samples;
use crate::stats::samples::Sample;

/// One dimension of floats: a contiguous numpy array of float64 in place, anything else as a copy.
pub(in crate::python) enum Floats<'py> {
    InPlace(PyReadonlyArray1<'py, f64>),
    Owned(Vec<f64>),
}

impl<'py> Floats<'py> {
    /// Reads the argument called `name`.
    pub(in crate::python) fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(match Samples::read(name, object)? {
            Samples::F64(array) => Self::InPlace(array),
            Samples::Owned(values) => Self::Owned(values),
            Samples::I64(array) => Self::Owned(array.as_slice()?.iter().map(|sample| sample.value()).collect()),
        })
    }

    /// The same as a copy.
    pub(in crate::python) fn into_owned(self) -> PyResult<Self> {
        match self {
            Self::InPlace(array) => Ok(Self::Owned(array.as_slice()?.to_vec())),
            owned @ Self::Owned(_) => Ok(owned),
        }
    }

    /// The numbers.
    pub(in crate::python) fn as_slice(&self) -> PyResult<&[f64]> {
        match self {
            Self::InPlace(array) => Ok(array.as_slice()?),
            Self::Owned(values) => Ok(values),
        }
    }
}
