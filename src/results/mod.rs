//! Result structs of public functions. With the feature `python` they are frozen Python objects too.

#[cfg(feature = "python")]
pub(crate) mod python;

/// Declares such a struct. Its doc comments are Python's docstrings too.
macro_rules! result {
    ($(#[$doc:meta])* $seen:vis struct $name:ident { $($(#[$about:meta])* $each:vis $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[allow(clippy::doc_markdown, reason = "backticks are not how Python docstrings name fields")]
        #[cfg_attr(feature = "python", pyo3::pyclass(frozen, eq, get_all, module = "fastrnns_rs.stats"))]
        #[derive(Debug, Clone, PartialEq)]
        $seen struct $name {
            $($(#[$about])* $each $field: $type,)*
        }

        #[cfg(feature = "python")]
        $crate::results::python::object!($name { $($field),* });
    };
}
pub(crate) use result;
