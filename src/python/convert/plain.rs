//! Documents as plain Python, without a copy of them in between.

use std::cell::RefCell;
use std::fmt::{self, Display};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{IntoPyObjectExt, exceptions::PyValueError};
use rustc_hash::FxHashMap;
use serde::ser::{self, Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeTuple, Serializer};

use crate::memory::{self, Room as _};

/// Dictionaries, lists, strings and numbers for structs; as in JSON, a number that is not finite is None.
pub(in crate::python) fn plain<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    value.serialize(Plain { py, keys: &RefCell::default(), texts: &RefCell::default() }).map_err(|failed| failed.0)
}

/// The keys of structs. Thousands of rows have the same ones: each is made once.
type Keys<'py> = RefCell<FxHashMap<&'static str, Bound<'py, PyString>>>;

/// Texts of at least so many bytes. A file may hold one of a megabyte that thousands of rows share: each is made once, too.
const LONG: usize = 1 << 12;
type Texts<'py> = RefCell<FxHashMap<String, Bound<'py, PyString>>>;

#[derive(Clone, Copy)]
struct Plain<'a, 'py> {
    py: Python<'py>,
    keys: &'a Keys<'py>,
    texts: &'a Texts<'py>,
}

/// An exception of Python.
#[derive(Debug)]
struct Failed(PyErr);

impl Display for Failed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: Display>(message: T) -> Self {
        Self(PyValueError::new_err(message.to_string()))
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

type Made<'py> = Result<Bound<'py, PyAny>, Failed>;

/// Values that Python has a type for.
macro_rules! values {
    ($($name:ident: $type:ty),*) => {$(
        fn $name(self, value: $type) -> Made<'py> {
            Ok(value.into_bound_py_any(self.py)?)
        }
    )*};
}

/// Types that no document contains.
macro_rules! absent {
    ($($name:ident($($type:ty),*) -> $made:ty),* $(,)?) => {$(
        fn $name(self, $(_: $type),*) -> Result<$made, Failed> {
            Err(PyTypeError::new_err(concat!("not supported in documents: ", stringify!($name))).into())
        }
    )*};
}

impl<'a, 'py> Serializer for Plain<'a, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    type SerializeSeq = List<'a, 'py>;
    type SerializeTuple = List<'a, 'py>;
    type SerializeTupleStruct = Impossible<Self::Ok, Failed>;
    type SerializeTupleVariant = Impossible<Self::Ok, Failed>;
    type SerializeMap = Impossible<Self::Ok, Failed>;
    type SerializeStruct = Dict<'a, 'py>;
    type SerializeStructVariant = Impossible<Self::Ok, Failed>;

    values!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);

    fn serialize_str(self, value: &str) -> Made<'py> {
        if value.len() < LONG {
            return Ok(value.into_bound_py_any(self.py)?);
        }
        if let Some(known) = self.texts.borrow().get(value) {
            return Ok(known.clone().into_any());
        }
        let text = PyString::new(self.py, value);
        self.texts.borrow_mut().put((value.to_owned(), text.clone()));
        Ok(text.into_any())
    }

    absent!(
        serialize_f32(f32) -> Self::Ok,
        serialize_char(char) -> Self::Ok,
        serialize_bytes(&[u8]) -> Self::Ok,
        serialize_unit_struct(&'static str) -> Self::Ok,
        serialize_unit_variant(&'static str, u32, &'static str) -> Self::Ok,
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant,
        serialize_map(Option<usize>) -> Self::SerializeMap,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant,
    );

    fn serialize_f64(self, value: f64) -> Made<'py> {
        Ok(Some(value).filter(|value| value.is_finite()).into_bound_py_any(self.py)?)
    }

    fn serialize_none(self) -> Made<'py> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn serialize_unit(self) -> Made<'py> {
        self.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Made<'py> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'a, 'py>, Failed> {
        Ok(List { of: self, list: PyList::empty(self.py) })
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'a, 'py>, Failed> {
        self.serialize_seq(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Dict<'a, 'py>, Failed> {
        memory::check();
        Ok(Dict { of: self, dict: PyDict::new(self.py) })
    }
}

/// A list in the making.
struct List<'a, 'py> {
    of: Plain<'a, 'py>,
    list: Bound<'py, PyList>,
}

impl<'py> SerializeSeq for List<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        Ok(self.list.append(value.serialize(self.of)?)?)
    }

    fn end(self) -> Made<'py> {
        Ok(self.list.into_any())
    }
}

impl<'py> SerializeTuple for List<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Made<'py> {
        SerializeSeq::end(self)
    }
}

/// A dictionary in the making.
struct Dict<'a, 'py> {
    of: Plain<'a, 'py>,
    dict: Bound<'py, PyDict>,
}

impl<'py> SerializeStruct for Dict<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        let value = value.serialize(self.of)?;
        let mut keys = self.of.keys.borrow_mut();
        let key = keys.entry(key).or_insert_with(|| PyString::intern(self.of.py, key));
        Ok(self.dict.set_item(&*key, value)?)
    }

    fn end(self) -> Made<'py> {
        Ok(self.dict.into_any())
    }
}
