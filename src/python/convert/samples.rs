//! Samples in the type that they have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PyMemoryView, PySet, PyTuple};

/// Samples of a caller, in a form that is read without the interpreter: float64 and int64 in place, all other types as
/// floats, since everything that reads samples is compiled again for each of their types.
pub(in crate::python) enum Samples<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    I64(PyReadonlyArray1<'py, i64>),
    Owned(Vec<f64>),
}

impl<'py> Samples<'py> {
    /// Reads the argument called `name`.
    pub(in crate::python) fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Asked first, since it does not load numpy.
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return elements(name, object).map(Self::Owned);
        }
        if is_masked(object) {
            let message = format!("{name} is a masked array; pass {name}.compressed(), or fill what is masked");
            return Err(PyValueError::new_err(message));
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
        if let Some(samples) = Self::converted(name, object)? {
            return Ok(samples);
        }
        elements(name, object).map(Self::Owned)
    }

    /// What numpy makes of arrays of other types and layouts, of tensors and of buffers, where those are real numbers.
    fn converted(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        // Asked first, so that a generator does not load numpy. Bytes are text rather than numbers.
        let is_array = object.hasattr("__array__")?;
        let is_text = object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>();
        if is_text || !is_array && PyMemoryView::from(object).is_err() {
            return Ok(None);
        }
        // What numpy cannot have, such as a tensor with a gradient, is read by its elements.
        let numpy = object.py().import("numpy")?;
        let Ok(array) = numpy.call_method1("asarray", (object,)) else { return Ok(None) };
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if kind == "c" {
            let message =
                format!("{name} is an array of {}; every value must be a real number", array.getattr("dtype")?);
            return Err(PyTypeError::new_err(message));
        }
        if array.getattr("ndim")?.extract::<usize>()? != 1 || !["b", "i", "u", "f"].contains(&kind.as_str()) {
            return Ok(None);
        }
        if let Some(samples) = Self::in_place(&array) {
            return Ok(Some(samples));
        }
        let floats = numpy.call_method1("ascontiguousarray", (array, numpy.getattr("float64")?))?;
        Ok(Self::in_place(&floats))
    }

    fn in_place(object: &Bound<'py, PyAny>) -> Option<Self> {
        fn array<'py, T: Element>(object: &Bound<'py, PyAny>) -> Option<PyReadonlyArray1<'py, T>> {
            let array = object.cast::<PyArray1<T>>().ok()?.try_readonly().ok()?;
            array.as_slice().is_ok().then_some(array)
        }
        // Without numpy nothing is an array, and there is no reason to load it.
        numpy_is_loaded(object.py()).then_some(())?;
        array(object).map(Self::F64).or_else(|| array(object).map(Self::I64))
    }
}

/// Whether some elements of an array are not to be looked at.
pub(super) fn is_masked(object: &Bound<'_, PyAny>) -> bool {
    numpy_is_loaded(object.py())
        && !object.is_exact_instance_of::<PyUntypedArray>()
        && object.is_instance_of::<PyUntypedArray>()
        && object.hasattr("mask").unwrap_or(false)
}

/// Whether anybody has imported numpy. Asked for every argument, so remembered: what is loaded stays.
fn numpy_is_loaded(py: Python<'_>) -> bool {
    static LOADED: AtomicBool = AtomicBool::new(false);
    // Not while it is still being imported.
    let find = || py.import("sys")?.getattr("modules")?.get_item("numpy")?.hasattr("ndarray");
    if !LOADED.load(Ordering::Relaxed) && find().unwrap_or(false) && py.detach(first_array) {
        LOADED.store(true, Ordering::Relaxed);
    }
    LOADED.load(Ordering::Relaxed)
}

/// Has the numpy crate look up what it needs of numpy. It panics where Ctrl-C interrupts that, and signals reach the main
/// thread alone: so another thread does it.
fn first_array() -> bool {
    let borrow = || Python::attach(|py| drop(PyArray1::<f64>::zeros(py, 1, false).readonly()));
    thread::Builder::new().spawn(borrow).is_ok_and(|looking| looking.join().is_ok())
}

/// Runs `$body` with `$slice` bound to the samples as a slice of their own type.
macro_rules! with_slice {
    ($samples:expr, $slice:ident => $body:expr) => {
        match $samples {
            $crate::python::convert::Samples::F64(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::python::convert::Samples::I64(array) => {
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
pub(in crate::python) use with_slice;

/// Elements that are read in some milliseconds.
const ASK_EVERY: usize = 1 << 16;

fn elements(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let refused = || {
        let given = object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} is of type {given}; it must be a sequence of numbers or a 1-D array"))
    };
    // Neither keys, nor what has no order, nor text.
    let is_one_of = [
        object.is_instance_of::<PyDict>(),
        object.is_instance_of::<PySet>(),
        object.is_instance_of::<PyFrozenSet>(),
        object.is_instance_of::<PyBytes>(),
        object.is_instance_of::<PyByteArray>(),
    ];
    if is_one_of.contains(&true) {
        return Err(refused());
    }
    let items = object.try_iter().map_err(|_| refused())?;
    items
        .enumerate()
        .map(|(position, item)| {
            let item = item?;
            if position % ASK_EVERY == ASK_EVERY - 1 {
                item.py().check_signals()?;
            }
            item.extract::<f64>().map_err(|error| {
                if error.is_instance_of::<PyOverflowError>(item.py()) {
                    return PyValueError::new_err(format!("{name}[{position}] is too large for a 64-bit float"));
                }
                // Whatever else an element's own conversion raised, Ctrl-C among it.
                if !error.is_instance_of::<PyTypeError>(item.py()) && !error.is_instance_of::<PyValueError>(item.py()) {
                    return error;
                }
                let shown = item.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
                PyTypeError::new_err(format!("{name}[{position}] is {shown}; every value must be a number"))
            })
        })
        .collect()
}
