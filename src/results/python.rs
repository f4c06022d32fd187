//! Results as Python sees them: frozen objects with a `repr` and `to_dict`.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::units::significant;

/// More of a list than this does not help whoever looks at a `repr`.
const SHOWN: usize = 6;

/// Gives such an object its methods.
macro_rules! object {
    ($name:ident { $($field:ident),* }) => {
        #[pyo3::pymethods]
        impl $name {
            /// The fields by name, of numbers, words, lists and dicts.
            fn to_dict<'py>(&self, py: pyo3::Python<'py>) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyDict>> {
                use pyo3::types::PyDictMethods;
                let dict = pyo3::types::PyDict::new(py);
                $(dict.set_item(stringify!($field), $crate::results::python::Field::plain(&self.$field, py)?)?;)*
                Ok(dict)
            }

            fn __repr__(&self) -> String {
                let fields = [
                    $(format!("{}={}", stringify!($field), $crate::results::python::Field::shown(&self.$field)),)*
                ];
                format!("{}({})", stringify!($name), fields.join(", "))
            }
        }

        impl $crate::results::python::Field for $name {
            fn plain<'py>(&self, py: pyo3::Python<'py>) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                Ok(self.to_dict(py)?.into_any())
            }

            fn shown(&self) -> String {
                self.__repr__()
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
                self.name().plain(py)
            }

            fn shown(&self) -> String {
                self.name().shown()
            }
        }
    };
}
pub(crate) use word;

/// A value that such an object may hold.
pub(crate) trait Field {
    /// As a dict holds it.
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// As the `repr` shows it.
    fn shown(&self) -> String;
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
        }
    };
}

field!(f64, value => shown(*value));
field!(usize, value => value.to_string());
field!(u64, value => value.to_string());
field!(bool, value => if *value { "True" } else { "False" }.to_owned());
field!(&'static str, value => format!("'{value}'"));
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
}

impl<A: Field, B: Field> Field for (A, B) {
    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyTuple::new(py, [self.0.plain(py)?, self.1.plain(py)?])?.into_any())
    }

    fn shown(&self) -> String {
        format!("({}, {})", self.0.shown(), self.1.shown())
    }
}
