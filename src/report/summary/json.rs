//! The document itself, laid out as run files are.

use serde_json::Value;

use super::{Options, escape};
use crate::report::json::layout;
use crate::trace::Summary;

pub(super) fn render(summary: &Summary, _: &Options) -> String {
    // Only a map whose keys are no texts cannot be written, and a summary has none. What is not finite becomes null.
    let document: Value = serde_json::to_value(summary).unwrap_or_default();
    escape::json(&layout(&document))
}
