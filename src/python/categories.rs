//! What kernels compute.

use pyo3::prelude::pyfunction;

use crate::trace::categories::Categories;

/// What a kernel computes, by its whole name, demangled or mangled: the category that a report shows.
#[pyfunction]
pub(super) fn kernel_category(name: &str) -> String {
    Categories::built_in().of(name).to_owned()
}

/// What a kernel that Inductor wrote computes, by its source: the heuristic that decorates it, or `unknown`.
#[pyfunction]
pub(super) fn kernel_category_by_source(source: &str) -> &'static str {
    Categories::of_source(source)
}
