//! Renders a summary of captures for people, spreadsheets and scripts.
//!
//! A format is one file here, its `mod` line and its row in [`FORMATS`]; a column is one line in `columns/`, a
//! view one in [`VIEWS`] and in `views.rs`. Renderers only arrange: what they show stands in the summary, in the summary's
//! order. Names come from files that anyone may have written, so every text passes through `../escape.rs` on its way out.

mod columns;
mod csv;
mod json;
mod markdown;
mod notes;
mod overview;
mod page;
mod sheet;
mod table;
mod value;
mod views;

use super::{align, escape};
use crate::error::{Error, Result};
use crate::trace::{KernelRow, Summary};

/// What a report lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    /// The first screen: what a reader must know, where the time went, and the top of each list.
    #[default]
    Overview,
    /// Kernels.
    Kernel,
    /// Kernels with the shapes of their launches; the summary must have a row for each name and shape.
    LaunchShape,
    /// Categories of kernels.
    Category,
    /// Devices.
    Device,
    /// Queues of devices.
    Stream,
    /// Calls of the device's interface.
    Api,
    /// Copies and sets.
    Memory,
    /// Ranges that the program named.
    Range,
    /// Iterations of a model.
    Iteration,
    /// How kernels follow their launches.
    Launch,
    /// Why devices were idle.
    Idle,
    /// The way that cuDNN took through recurrent networks.
    CudnnRnn,
    /// Files that belong together.
    Rank,
    /// What nvprof measured of kernels.
    Metric,
    /// What Inductor's own benchmark would say.
    Inductor,
}

/// What an option may be, by name.
#[derive(Debug)]
pub struct Choice<T> {
    /// What the option takes.
    pub name: &'static str,
    /// One line for help texts.
    pub description: &'static str,
    /// What it means.
    pub value: T,
}

/// Every view by name, as `--by` takes it.
pub static VIEWS: &[Choice<View>] = &[
    Choice { name: "overview", description: "where the time went, and the top of each list", value: View::Overview },
    Choice { name: "kernel", description: "a line for each kernel", value: View::Kernel },
    Choice { name: "launch-shape", description: "a line for each kernel and grid", value: View::LaunchShape },
    Choice { name: "category", description: "a line for each category of kernels", value: View::Category },
    Choice { name: "device", description: "a line for each device", value: View::Device },
    Choice { name: "stream", description: "a line for each stream", value: View::Stream },
    Choice { name: "api", description: "a line for each function of the device's interface", value: View::Api },
    Choice { name: "memory", description: "a line for each kind of copy and set", value: View::Memory },
    Choice { name: "range", description: "a line for each range that the program named", value: View::Range },
    Choice {
        name: "iteration",
        description: "a line for each iteration, after their statistics",
        value: View::Iteration,
    },
    Choice { name: "launch", description: "how kernels follow the calls that launched them", value: View::Launch },
    Choice { name: "idle", description: "a line for each device and cause of idle time", value: View::Idle },
    Choice { name: "cudnn-rnn", description: "the way cuDNN took through recurrent networks", value: View::CudnnRnn },
    Choice { name: "metric", description: "a line for each kernel and metric of nvprof", value: View::Metric },
    Choice { name: "rank", description: "a line for each of several files", value: View::Rank },
    Choice { name: "inductor", description: "the figures of Inductor's own benchmark", value: View::Inductor },
];

/// Which of its names a kernel is shown under. CSV and JSON have all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Names {
    /// The whole demangled name.
    #[default]
    Full,
    /// Without namespaces, arguments and the like.
    Short,
    /// As the linker knows it; the whole name where the capture has no other.
    Mangled,
}

/// Every kind of name.
pub static NAMES: &[Choice<Names>] = &[
    Choice { name: "full", description: "the whole demangled name", value: Names::Full },
    Choice { name: "short", description: "without namespaces and arguments", value: Names::Short },
    Choice { name: "mangled", description: "as the linker knows it", value: Names::Mangled },
];

impl Names {
    fn of(self, row: &KernelRow) -> &str {
        match self {
            Self::Full => &row.name,
            Self::Short => &row.short_name,
            Self::Mangled => row.mangled_name.as_deref().unwrap_or(&row.name),
        }
    }
}

/// What to show of a summary, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// What is listed.
    pub view: View,
    /// At most so many rows of a list; `None` is ten in the overview of `table` and `markdown`, else all.
    pub top: Option<usize>,
    /// Names of kernels.
    pub names: Names,
    /// Columns of the terminal, into which `table` cuts names; `None` cuts nothing.
    pub width: Option<usize>,
}

/// An output format of a summary.
#[derive(Debug)]
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// One line for help texts.
    pub description: &'static str,
    render: fn(&Summary, &Options) -> String,
}

/// Every output format of a summary.
pub static FORMATS: &[Format] = &[
    Format { name: "table", description: "aligned columns for a terminal", render: table::render },
    Format { name: "json", description: "the whole summary, whatever the view", render: json::render },
    Format { name: "csv", description: "the rows of the view, in nanoseconds and bytes", render: csv::render },
    Format { name: "markdown", description: "tables for an issue or a README", render: markdown::render },
];

/// The text of `summary` in the format called `format`; it ends with a newline.
///
/// Safe to print in a terminal in every format: a name's control characters come out as `\x1b` and the like.
///
/// # Errors
/// A format that does not exist.
pub fn render(summary: &Summary, format: &str, options: &Options) -> Result<String> {
    let found = FORMATS.iter().find(|candidate| candidate.name == format);
    let found = found.ok_or_else(|| Error::UnknownFormat { name: format.to_owned() })?;
    Ok((found.render)(summary, options))
}
