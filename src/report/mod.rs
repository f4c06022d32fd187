//! Renders summaries of captures: see [`summary`].

mod align;
mod json;
pub mod summary;

use crate::trace::escape;
