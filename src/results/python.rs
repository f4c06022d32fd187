//! Results as Python sees them: frozen objects with a `repr` and `to_dict`, which can be pickled.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::units::significant;

/// Number of list elements that a `repr` shows.
const SHOWN: usize = 6;

/// Gives such an object its methods.
macro_rules! object {
    ($name:ident { $($field:ident),* }) => {
        #[pyo3::pymethods]
        impl $name {
            /// The fields by name, of numbers, words, lists and dicts.
            fn to_dict<'py>(&self, py: pyo3::Python<'py>) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyDict>> {
                use pyo3::types::PyDictMethods;
                $crate::guard::guarded(|| {
                    let dict = pyo3::types::PyDict::new(py);
                    $(dict.set_item(stringify!($field), $crate::results::python::Field::plain(&self.$field, py)?)?;)*
                    Ok(dict)
                })
            }

            /// The object of such fields.
            #[classmethod]
            fn _from_dict(
                _class: &pyo3::Bound<'_, pyo3::types::PyType>,
                fields: &pyo3::Bound<'_, pyo3::PyAny>,
            ) -> pyo3::PyResult<Self> {
                $crate::guard::guarded(|| $crate::results::python::Field::of(fields))
            }

            fn __reduce__<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<(pyo3::Bound<'py, pyo3::PyAny>, (pyo3::Bound<'py, pyo3::types::PyDict>,))> {
                use pyo3::types::PyAnyMethods;
                $crate::guard::guarded(|| {
                    Ok((slf.get_type().getattr("_from_dict")?, (slf.get().to_dict(slf.py())?,)))
                })
            }

            fn __repr__(&self) -> pyo3::PyResult<String> {
                $crate::guard::guarded_value(|| $crate::results::python::Field::shown(self))
            }
        }

        impl $crate::results::python::Field for $name {
            fn plain<'py>(&self, py: pyo3::Python<'py>) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                Ok(self.to_dict(py)?.into_any())
            }

            fn shown(&self) -> String {
                let fields = [
                    $(format!("{}={}", stringify!($field), $crate::results::python::Field::shown(&self.$field)),)*
                ];
                format!("{}({})", stringify!($name), fields.join(", "))
            }

            fn of(value: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                let names = [$(stringify!($field)),*];
                let fields = $crate::results::python::fields(stringify!($name), value, &names)?;
                $(let $field = $crate::results::python::field(&fields, stringify!($field))?;)*
                Ok(Self { $($field),* })
            }
        }
    };
}
pub(crate) use object;

/// Shows the values of an enumeration to Python by their names.
macro_rules! word {
    ($name:ident) => {
        impl<'py> pyo3::IntoPyObject<'py> for $name {
            type Target = pyo3::types::PyString;
            type Output = pyo3::Bound<'py, pyo3::types::PyString>;
            type Error = std::convert::Infallible;

            fn into_pyobject(self, py: pyo3::Python<'py>) -> std::result::Result<Self::Output, Self::Error> {
                self.name().into_pyobject(py)
            }
        }

        impl $crate::results::python::Field for $name {
            fn plain<'py>(&self, py: pyo3::Python<'py>) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                Ok(pyo3::IntoPyObject::into_pyobject(*self, py)?.into_any())
            }

            fn shown(&self) -> String {
                format!("'{}'", self.name())
            }

            fn of(value: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                use pyo3::types::PyAnyMethods;
                Ok(Self::named(stringify!($name), &value.extract::<String>()?)?)
            }
        }
    };
}
pub(crate) use word;

/// A value that such an object may hold.
pub(crate) trait Field: Sized {
    /// Converts the value for a dict.
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// Returns the text for the `repr`.
    fn shown(&self) -> String;

    /// The value that a dict holds so.
    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

/// The fields of an object: all of them, and no other.
pub(crate) fn fields<'py>(name: &str, value: &Bound<'py, PyAny>, names: &[&str]) -> PyResult<Bound<'py, PyDict>> {
    let fields = value.cast::<PyDict>()?;
    for key in fields.keys() {
        let known = key.cast::<PyString>()?.to_string();
        if !names.contains(&known.as_str()) {
            return Err(PyValueError::new_err(format!("{name} has no field '{known}'")));
        }
    }
    match names.iter().find(|field| !fields.contains(field).unwrap_or(false)) {
        Some(field) => Err(PyValueError::new_err(format!("{name} needs the field '{field}'"))),
        None => Ok(fields.clone()),
    }
}

/// The value of a field that is there.
pub(crate) fn field<T: Field>(fields: &Bound<'_, PyDict>, name: &str) -> PyResult<T> {
    T::of(&fields.as_any().get_item(name)?)
}

macro_rules! field {
    ($type:ty, $value:ident => $shown:expr) => {
        impl Field for $type {
            fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.into_pyobject(py)?.to_owned().into_any())
            }

            fn shown(&self) -> String {
                let $value = self;
                $shown
            }

            fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
                value.extract()
            }
        }
    };
}

field!(f64, value => shown(*value));
field!(usize, value => value.to_string());
field!(u64, value => value.to_string());
field!(bool, value => if *value { "True" } else { "False" }.to_owned());
field!(String, value => format!("'{value}'"));

/// Four digits, in the form that has the fewest places.
fn shown(value: f64) -> String {
    let usual = value == 0.0 || (1e-4..1e9).contains(&value.abs());
    if usual { significant(value + 0.0) } else { format!("{value:.3e}") }
}

impl<T: Field> Field for Option<T> {
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |value| value.plain(py))
    }

    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "None".to_owned(), Field::shown)
    }

    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_none() { Ok(None) } else { T::of(value).map(Some) }
    }
}

impl<T: Field> Field for Vec<T> {
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let items = self.iter().map(|item| item.plain(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, items)?.into_any())
    }

    fn shown(&self) -> String {
        let mut shown: Vec<String> = self.iter().take(SHOWN).map(Field::shown).collect();
        if self.len() > SHOWN {
            shown.push(format!("… {} in all", self.len()));
        }
        format!("[{}]", shown.join(", "))
    }

    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.cast::<PyList>()?.iter().map(|item| T::of(&item)).collect()
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyTuple::new(py, [self.0.plain(py)?, self.1.plain(py)?])?.into_any())
    }

    fn shown(&self) -> String {
        format!("({}, {})", self.0.shown(), self.1.shown())
    }

    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let pair = value.cast::<PyTuple>()?;
        if pair.len() != 2 {
            return Err(PyValueError::new_err(format!("a pair has {} values", pair.len())));
        }
        Ok((A::of(&pair.get_item(0)?)?, B::of(&pair.get_item(1)?)?))
    }
}
