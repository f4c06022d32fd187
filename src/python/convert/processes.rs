//! Processes: one number of each, or the samples of each.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::floats;
use crate::error::Result;
use crate::memory;
use crate::stats::samples::process_medians;

/// Samples of processes, as passed by a caller.
pub(in crate::python) enum Processes {
    /// One number for each process, its median.
    Medians(Vec<f64>),
    /// The samples of each process.
    Samples(Vec<Vec<f64>>),
}

impl Processes {
    /// Reads the argument called `name`: numbers, or sequences of numbers.
    pub(in crate::python) fn read(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let object = &listed(object)?;
        if !first(object).is_some_and(|first| is_sequence(&first)) {
            return Ok(Self::Medians(floats(name, object)?));
        }
        let read = |(process, samples): (usize, PyResult<Bound<'_, PyAny>>)| {
            object.py().check_signals()?;
            floats(&format!("{name}[{process}]"), &samples?)
        };
        Ok(Self::Samples(object.try_iter()?.enumerate().map(read).collect::<PyResult<_>>()?))
    }

    /// The same, to be read without the interpreter.
    pub(in crate::python) fn given(&self) -> Given<'_> {
        match self {
            Self::Medians(medians) => Given::Medians(medians),
            Self::Samples(_) => Given::Samples(self.samples()),
        }
    }

    /// The samples of each process; numbers alone are the samples of one.
    pub(in crate::python) fn samples(&self) -> Vec<&[f64]> {
        match self {
            Self::Medians(samples) => vec![samples],
            Self::Samples(processes) => processes.iter().map(Vec::as_slice).collect(),
        }
    }
}

/// Processes that can be read without the interpreter.
pub(in crate::python) enum Given<'a> {
    Medians(&'a [f64]),
    Samples(Vec<&'a [f64]>),
}

impl<'a> Given<'a> {
    /// The samples of each process; of one number for each, that one.
    pub(in crate::python) fn each(&self) -> Vec<&'a [f64]> {
        match self {
            Self::Medians(medians) => medians.chunks(1).collect(),
            Self::Samples(processes) => processes.clone(),
        }
    }

    /// One number for each process of the argument `name`: its median.
    pub(in crate::python) fn medians(&self, name: &'static str, interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
        match self {
            Self::Medians(medians) => Ok(memory::copied(medians)),
            Self::Samples(processes) => process_medians(name, processes, interrupted),
        }
    }
}

/// Returns an iterator as a list.
fn listed<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if object.len().is_ok() || object.try_iter().is_err() {
        return Ok(object.clone());
    }
    let list = PyList::empty(object.py());
    for item in object.try_iter()? {
        object.py().check_signals()?;
        list.append(item?)?;
    }
    Ok(list.into_any())
}

/// Returns the first element of an object that can be read twice.
fn first<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    object.len().ok()?;
    object.try_iter().ok()?.next()?.ok()
}

/// A word gives letters, and is no sequence of numbers.
fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.try_iter().is_ok() && !object.is_instance_of::<PyString>()
}
