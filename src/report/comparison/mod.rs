//! Renders the comparison of two sides for people, pull requests and build servers.
//!
//! A format is one file here, its `mod` line and its row in [`FORMATS`]. Renderers only arrange: every number that they
//! show stands in the document. Names come from files that anyone may have written, so every text passes through
//! `../escape.rs` on its way out, and a comparison that was forced says so in each format before anything else.

mod captures;
mod document;
mod json;
mod junit;
mod junit_cases;
mod kernel_lines;
mod markdown;
mod markdown_kernels;
mod problems;
mod table;
mod table_kernels;
mod words;

use super::{align, escape};
use crate::error::{Error, Result};

/// An output format of a comparison.
#[derive(Debug)]
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// One line for help texts.
    pub description: &'static str,
    render: fn(&str) -> Result<String>,
}

/// Every output format of a comparison.
pub static FORMATS: &[Format] = &[
    Format { name: "table", description: "aligned columns for a terminal", render: table::render },
    Format { name: "json", description: "the whole comparison", render: json::render },
    Format { name: "markdown", description: "a comment for a pull request", render: markdown::render },
    Format { name: "junit", description: "XML for a build server: a test case for each row", render: junit::render },
];

/// The text of the comparison `document` in the format called `format`; it ends with a newline.
///
/// Safe to print in a terminal in every format: a name's control characters come out as `\x1b` and the like.
///
/// # Errors
/// A format that does not exist, or a text that is not a comparison.
pub fn render(document: &str, format: &str) -> Result<String> {
    let found = FORMATS.iter().find(|candidate| candidate.name == format);
    let found = found.ok_or_else(|| Error::UnknownFormat { name: format.to_owned() })?;
    (found.render)(document)
}
