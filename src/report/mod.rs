//! Renders a run file for people, spreadsheets and the scripts that read the original benchmark's output.
//!
//! A format is one file here, its `mod` line and its row in [`FORMATS`]. Renderers only arrange: every number that they
//! show stands in the run file. [`comparison`] does the same for what two sides differ in, [`summary`] for what captures
//! hold.

mod align;
pub mod comparison;
mod csv;
mod json;
mod markdown;
mod oss;
mod pep;
mod run;
pub mod summary;
mod sweep;
mod sweep_blocks;
mod sweep_text;
mod table;

pub use run::{Phase, Process, Row, Run};
pub use sweep_text::render as render_sweep;
pub use table::Table;

use crate::error::{Error, Result};
use crate::trace::escape;

/// An output format of a run.
#[derive(Debug)]
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// One line for help texts.
    pub description: &'static str,
    render: fn(&str) -> Result<String>,
}

/// Every output format of a run.
pub static FORMATS: &[Format] = &[
    Format { name: "table", description: "the table that the terminal shows", render: table::render },
    Format { name: "json", description: "the run file", render: json::render },
    Format { name: "csv", description: "a line for each runner and phase, in nanoseconds", render: csv::render },
    Format { name: "markdown", description: "a table for an issue or a README", render: markdown::render },
    Format { name: "oss", description: "fastrnns' object of means, in milliseconds", render: oss::render },
    Format { name: "pep", description: "fastrnns' line for each sample, in milliseconds", render: pep::render },
];

/// The text of the run file `document` in the format called `format`; it ends with a newline unless it is empty.
///
/// # Errors
/// A format that does not exist, or a text that is not a run file.
pub fn render(document: &str, format: &str) -> Result<String> {
    let found = FORMATS.iter().find(|candidate| candidate.name == format);
    let found = found.ok_or_else(|| Error::UnknownFormat { name: format.to_owned() })?;
    (found.render)(document)
}
