//! Samples from Python: a numpy array in place where it lies contiguous, anything else by its elements.

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// What a caller passed as samples, in a form that can be read without the interpreter.
pub(super) enum Samples<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
    I64(PyReadonlyArray1<'py, i64>),
    I32(PyReadonlyArray1<'py, i32>),
    U64(PyReadonlyArray1<'py, u64>),
    U32(PyReadonlyArray1<'py, u32>),
    Owned(Vec<f64>),
}

impl<'py> Samples<'py> {
    /// Reads the argument called `name`.
    pub(super) fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Asked first, since it does not load numpy.
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return elements(name, object).map(Self::Owned);
        }
        if let Some(samples) = Self::in_place(object) {
            return Ok(samples);
        }
        if let Ok(dimensions) = object.getattr("ndim").and_then(|ndim| ndim.extract::<usize>())
            && dimensions != 1
        {
            let message = format!("{name} has {dimensions} dimensions; it must have one");
            return Err(PyValueError::new_err(message));
        }
        elements(name, object).map(Self::Owned)
    }

    fn in_place(object: &Bound<'py, PyAny>) -> Option<Self> {
        fn array<'py, T: Element>(object: &Bound<'py, PyAny>) -> Option<PyReadonlyArray1<'py, T>> {
            let array = object.cast::<PyArray1<T>>().ok()?.try_readonly().ok()?;
            array.as_slice().is_ok().then_some(array)
        }
        // Not an array: nothing to look at, and no reason to load numpy.
        object.hasattr("__array_interface__").ok().filter(|&is_array| is_array)?;
        None.or_else(|| array(object).map(Self::F64))
            .or_else(|| array(object).map(Self::I64))
            .or_else(|| array(object).map(Self::U64))
            .or_else(|| array(object).map(Self::F32))
            .or_else(|| array(object).map(Self::I32))
            .or_else(|| array(object).map(Self::U32))
    }
}

/// Runs `$body` with `$slice` bound to the samples as a slice of their own type.
macro_rules! with_slice {
    ($samples:expr, $slice:ident => $body:expr) => {
        match $samples {
            $crate::python::convert::Samples::F64(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::F32(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::I64(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::I32(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::U64(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::U32(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::Owned(values) => {
                let $slice = values.as_slice();
                $body
            }
        }
    };
}
pub(super) use with_slice;

fn elements(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let items = object.try_iter().map_err(|_| {
        let given = object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} is a {given}; it must be a sequence of numbers or a 1-D array"))
    })?;
    items
        .enumerate()
        .map(|(position, item)| {
            let item = item?;
            item.extract::<f64>().map_err(|_| {
                let shown = item.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
                PyTypeError::new_err(format!("{name}[{position}] is {shown}; every value must be a number"))
            })
        })
        .collect()
}
