//! JSON as plain Python.

use std::fmt;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Dictionaries, lists, texts and numbers in place of a JSON document.
pub(in crate::python) fn plain<'py>(py: Python<'py>, document: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = serde_json::Deserializer::from_str(document);
    Plain(py).deserialize(&mut reader).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Makes Python's objects while it reads: a tree of Rust's in between would take longer than either.
#[derive(Clone, Copy)]
struct Plain<'py>(Python<'py>);

impl<'py> Plain<'py> {
    fn object<E: Error>(self, value: impl IntoPyObjectExt<'py>) -> Result<Bound<'py, PyAny>, E> {
        value.into_bound_py_any(self.0).map_err(E::custom)
    }
}

impl<'de, 'py> DeserializeSeed<'de> for Plain<'py> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de, 'py> Visitor<'de> for Plain<'py> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        self.object(flag)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.object(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.object(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        self.object(number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.object(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let list = PyList::empty(self.0);
        while let Some(item) = items.next_element_seed(self)? {
            list.append(item).map_err(A::Error::custom)?;
        }
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let found = PyDict::new(self.0);
        while let Some(key) = entries.next_key::<String>()? {
            // Thousands of rows have the same keys.
            let key = PyString::intern(self.0, &key);
            found.set_item(key, entries.next_value_seed(self)?).map_err(A::Error::custom)?;
        }
        Ok(found.into_any())
    }
}
