//! Whole numbers, and positions.

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

use super::samples::is_masked;
use crate::error::require;
use crate::par;

/// The argument called `name`, a whole number from 0 to 2⁶⁴ − 1.
pub(in crate::python) fn whole(name: &str, object: &Bound<'_, PyAny>) -> PyResult<u64> {
    match object.extract::<u64>() {
        Ok(number) => Ok(number),
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {
            Err(PyTypeError::new_err(format!("{name} is {}; it must be a whole number", object.repr()?)))
        }
        Err(_) => {
            let message = format!("{name} is {}; it must be a whole number from 0 to 2**64 - 1", object.repr()?);
            Err(PyValueError::new_err(message))
        }
    }
}

/// The same with a default.
pub(in crate::python) fn whole_or(name: &str, object: Option<&Bound<'_, PyAny>>, default: u64) -> PyResult<u64> {
    object.map_or(Ok(default), |object| whole(name, object))
}

/// Returns the number of threads: the requested number, or as many as are worth it.
pub(in crate::python) fn threads(object: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(object) = object else { return Ok(par::threads()) };
    let threads = whole("threads", object)?;
    require((1..=256).contains(&threads), "threads", threads as f64, "from 1 to 256")?;
    Ok(threads as usize)
}

/// Rows of whole numbers: an array of numpy as one, anything else by its elements.
pub(in crate::python) enum Rows<'py> {
    Array(PyReadonlyArray2<'py, i64>),
    Owned(Vec<Vec<i64>>),
}

impl<'py> Rows<'py> {
    /// Reads the argument called `name`.
    pub(in crate::python) fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if !object.hasattr("__array__")? {
            return rows(name, object).map(Self::Owned);
        }
        let numpy = object.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (object,))?;
        if is_masked(object) {
            return Err(PyValueError::new_err(format!("{name} is a masked array; fill the masked values")));
        }
        let (dimensions, kind) = (array.getattr("ndim")?.extract::<usize>()?, array.getattr("dtype")?.getattr("kind")?);
        if dimensions != 2 {
            let message = format!("{name} has {dimensions} dimensions; it must have two");
            return Err(PyValueError::new_err(message));
        }
        if !["i", "u"].contains(&kind.extract::<String>()?.as_str()) {
            let message =
                format!("{name} is an array of {}; it must be an array of whole numbers", array.getattr("dtype")?);
            return Err(PyTypeError::new_err(message));
        }
        // A copy of its own, which no other thread writes to.
        let array = numpy.call_method("array", (array, "int64"), Some(&[("order", "C")].into_py_dict(object.py())?))?;
        Ok(Self::Array(array.cast::<PyArray2<i64>>()?.try_readonly()?))
    }

    /// The rows.
    pub(in crate::python) fn as_slices(&self) -> PyResult<Vec<&[i64]>> {
        match self {
            Self::Array(array) => {
                let (numbers, [rows, columns]) = (array.as_slice()?, [array.shape()[0], array.shape()[1]]);
                Ok((0..rows).map(|row| &numbers[row * columns..][..columns]).collect())
            }
            Self::Owned(rows) => Ok(rows.iter().map(Vec::as_slice).collect()),
        }
    }
}

fn rows(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<i64>>> {
    let read = |(row, object): (usize, PyResult<Bound<'_, PyAny>>)| {
        let read = |(place, item): (usize, PyResult<Bound<'_, PyAny>>)| {
            let item = item?;
            item.extract::<i64>().map_err(|_| {
                let shown = item.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
                PyTypeError::new_err(format!("{name}[{row}][{place}] is {shown}; every value must be a whole number"))
            })
        };
        let object = object?;
        object.py().check_signals()?;
        items(name, &object)?.enumerate().map(read).collect()
    };
    items(name, object)?.enumerate().map(read).collect()
}

fn items<'py>(name: &str, object: &Bound<'py, PyAny>) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>>> {
    object.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("{name} must be an array of two dimensions, or a sequence of sequences"))
    })
}
