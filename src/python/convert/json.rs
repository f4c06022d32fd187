//! JSON as plain Python.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rustc_hash::FxHashMap;
use serde_json::Value;

/// Dictionaries, lists, texts and numbers in place of a JSON value.
pub(in crate::python) fn plain<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    object(py, value, &mut FxHashMap::default())
}

/// The same. Thousands of rows have the same `keys`: each is made once.
fn object<'py, 'a>(
    py: Python<'py>,
    value: &'a Value,
    keys: &mut FxHashMap<&'a str, Bound<'py, PyString>>,
) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (_, Some(whole)) => whole.into_bound_py_any(py),
            _ => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| object(py, item, keys)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_bound_py_any(py)
        }
        Value::Object(entries) => {
            let found = PyDict::new(py);
            for (key, item) in entries {
                let item = object(py, item, keys)?;
                found.set_item(&*keys.entry(key).or_insert_with(|| PyString::intern(py, key)), item)?;
            }
            found.into_bound_py_any(py)
        }
    }
}
