//! Samples in the type that they have.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use numpy::{PyArray1, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PyMemoryView, PySet, PyTuple};

use super::array::Array;
use crate::memory::{self, Room as _};
use crate::par::Start;
use crate::simd::load_behind;
use crate::stats::samples::{BLOCK, Block, Sample};

/// Number of elements up to which arrays are copied: a copy of more would take a good part of the run time.
const LONGEST_COPY: usize = 1_000_000;

/// Samples of a caller, in a form that is read without the interpreter.
pub(in crate::python) enum Samples<'py> {
    Owned(Vec<f64>),
    /// Long arrays, where they are. Other threads may write to them: every sample is loaded on its own.
    F64(Array<'py, f64>),
    I64(Array<'py, i64>),
}

impl<'py> Samples<'py> {
    /// Reads the argument called `name`, for a function that goes through it several times.
    pub(in crate::python) fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let samples = Self::read_once(name, object)?;
        Ok(if samples.len() > LONGEST_COPY { samples } else { Self::Owned(samples.into_owned()) })
    }

    /// The same for a function that goes through it once, so that it need not be copied.
    pub(in crate::python) fn read_once(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Asked first, since it does not load numpy.
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return elements(name, object).map(Self::Owned);
        }
        if is_masked(object) {
            let message = format!("{name} is a masked array; pass {name}.compressed(), or fill the masked values");
            return Err(PyValueError::new_err(message));
        }
        if let Some(samples) = Self::of_array(object) {
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

    /// Converts arrays of other types and layouts, tensors and buffers with numpy, if they are real numbers.
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
        // Of times, numpy converts those in nanoseconds alone to numbers.
        if ["c", "m", "M"].contains(&kind.as_str()) {
            let message =
                format!("{name} is an array of {}; every value must be a real number", array.getattr("dtype")?);
            return Err(PyTypeError::new_err(message));
        }
        if array.getattr("ndim")?.extract::<usize>()? != 1 || !["b", "i", "u", "f"].contains(&kind.as_str()) {
            return Ok(None);
        }
        if let Some(samples) = Self::of_array(&array) {
            return Ok(Some(samples));
        }
        let floats = numpy.call_method1("require", (array, "float64", ["C", "A"]))?;
        Ok(Self::of_array(&floats))
    }

    fn of_array(object: &Bound<'py, PyAny>) -> Option<Self> {
        // Without numpy nothing is an array, and there is no reason to load it.
        numpy_is_loaded(object.py()).then_some(())?;
        Array::of(object).map(Self::F64).or_else(|| Array::of(object).map(Self::I64))
    }

    fn len(&self) -> usize {
        match self {
            Self::Owned(values) => values.len(),
            Self::F64(array) => array.as_slice().len(),
            Self::I64(array) => array.as_slice().len(),
        }
    }

    /// The same as floats that no other thread changes.
    pub(super) fn into_owned(self) -> Vec<f64> {
        match self {
            Self::Owned(values) => values,
            Self::F64(array) => {
                let mut values = memory::list(array.as_slice().len());
                load_behind(array.as_slice(), &mut values);
                values
            }
            Self::I64(array) => {
                let mut values = memory::list(array.as_slice().len());
                let mut place = Block::default();
                for block in array.as_slice().chunks(BLOCK) {
                    values.extend(Sample::still(block, &mut place).iter().map(Sample::value));
                }
                values
            }
        }
    }
}

/// Returns true if an array has masked elements.
pub(super) fn is_masked(object: &Bound<'_, PyAny>) -> bool {
    numpy_is_loaded(object.py())
        && !object.is_exact_instance_of::<PyUntypedArray>()
        && object.is_instance_of::<PyUntypedArray>()
        && object.hasattr("mask").unwrap_or(false)
}

/// Returns true if numpy is imported. The answer is kept, because this is called for every argument.
fn numpy_is_loaded(py: Python<'_>) -> bool {
    static LOADED: AtomicBool = AtomicBool::new(false);
    // Not while it is still being imported.
    let find = || py.import("sys")?.getattr("modules")?.get_item("numpy")?.hasattr("ndarray");
    if !LOADED.load(Ordering::Relaxed) && find().unwrap_or(false) && py.detach(first_array) {
        LOADED.store(true, Ordering::Relaxed);
    }
    LOADED.load(Ordering::Relaxed)
}

/// Lets the numpy crate look up numpy's functions. It panics if Ctrl-C interrupts that. Signals reach only the main thread, so
/// another thread does it.
fn first_array() -> bool {
    let Some(start) = Start::new(1) else { return false };
    let ready = start.ready();
    let borrow = || {
        ready.signal();
        Python::try_attach(|py| drop(PyArray1::<f64>::zeros(py, 1, false).readonly()));
    };
    let thread = thread::Builder::new().spawn(borrow);
    start.finish();
    thread.is_ok_and(|looking| looking.join().is_ok())
}

/// Runs `$body` with `$slice` bound to the samples as a slice of a type of samples.
macro_rules! with_slice {
    ($samples:expr, $slice:ident => $body:expr) => {
        match $samples {
            $crate::python::convert::Samples::Owned(values) => {
                let $slice = values.as_slice();
                $body
            }
            $crate::python::convert::Samples::F64(array) => {
                let $slice = array.as_slice();
                $body
            }
            $crate::python::convert::Samples::I64(array) => {
                let $slice = array.as_slice();
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
    let mut values = Vec::new();
    for (position, item) in object.try_iter().map_err(|_| refused())?.enumerate() {
        let item = item?;
        if position % ASK_EVERY == ASK_EVERY - 1 {
            item.py().check_signals()?;
        }
        values.room(1);
        values.push(item.extract::<f64>().map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(item.py()) {
                return PyValueError::new_err(format!("{name}[{position}] is too large for a 64-bit float"));
            }
            // Whatever else an element's own conversion raised, Ctrl-C among it.
            if !error.is_instance_of::<PyTypeError>(item.py()) && !error.is_instance_of::<PyValueError>(item.py()) {
                return error;
            }
            let shown = item.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
            PyTypeError::new_err(format!("{name}[{position}] is {shown}; every value must be a number"))
        })?);
    }
    Ok(values)
}
