//! Arrays of numpy, which other threads may write to while they are read.
#![allow(unsafe_code, reason = "the memory of an array, which numpy owns")]

use std::slice;
use std::sync::atomic::{AtomicI64, AtomicU64};

use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// One dimension of numbers, one behind the other.
pub(in crate::python) struct Array<'py, T: Element>(Bound<'py, PyArray1<T>>);

impl<'py, T: Element> Array<'py, T> {
    /// The object, if it is such an array.
    pub(super) fn of(object: &Bound<'py, PyAny>) -> Option<Self> {
        let array = object.cast::<PyArray1<T>>().ok()?;
        (array.is_contiguous() && array.data().is_aligned()).then(|| Self(array.clone()))
    }
}

macro_rules! slice {
    ($($number:ty as $changing:ty),*) => {$(
        impl Array<'_, $number> {
            /// The numbers, which others may change.
            pub(in crate::python) fn as_slice(&self) -> &[$changing] {
                if self.0.len() == 0 {
                    return &[];
                }
                // SAFETY: so many aligned numbers are there for as long as the array is, and are read as atomic ones of the
                // same layout, whatever others write meanwhile. `ndarray.resize(refcheck=False)` on another thread would move
                // them, which its documentation forbids.
                unsafe { slice::from_raw_parts(self.0.data().cast_const().cast(), self.0.len()) }
            }
        }
    )*};
}

slice!(f64 as AtomicU64, i64 as AtomicI64);
