//! Width of text on a terminal.

use pyo3::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use crate::guard::guarded_value;

/// Returns the number of terminal columns that a text fills.
///
/// Args:
///     text: Text of one line, without control characters.
#[pyfunction]
pub(super) fn display_width(text: &str) -> PyResult<usize> {
    guarded_value(|| text.width())
}
