//! The document itself, laid out as run files are.

use serde_json::Value;

use super::escape;
use crate::error::{Error, Result};
use crate::report::json::layout;

pub(super) fn render(document: &str) -> Result<String> {
    let value: Value =
        serde_json::from_str(document).map_err(|error| Error::NotAComparison { reason: error.to_string() })?;
    Ok(escape::json(&layout(&value)))
}
