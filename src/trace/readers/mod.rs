//! One reader for each format. A format is a file here, its `mod` line and its row in [`FORMATS`].

mod kineto;
mod nsys_sqlite;
mod nvprof;
mod open;
mod several;
mod sqlite;
mod times;
mod unknown;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use super::{Capture, Trace, Warning, counted};
use crate::error::{Error, Result};
use crate::memory;
pub(in crate::trace) use kineto::SHARED_CLOCK;
pub use nsys_sqlite::reports_loss;
pub(in crate::trace) use nvprof::csv::named_device;
pub use several::{Given, Reading, read_all};

/// Returns true if the caller wants reading to stop; called some ten times a second.
pub type Interrupted<'a> = &'a dyn Fn() -> bool;

/// A form in which captures come.
#[derive(Debug)]
pub struct Format {
    /// Its name in summaries.
    pub name: &'static str,
    /// One line for help texts.
    pub description: &'static str,
    /// Returns true if a file has this format, by the start of its decompressed content; or, if that is not enough, by the
    /// file.
    pub matches: fn(&[u8], &Path) -> bool,
    read: fn(Source<'_>, &mut Trace, Interrupted<'_>) -> Result<Capture>,
}

/// Every format that is read.
pub static FORMATS: &[Format] = &[
    Format {
        name: "nvprof-sqlite",
        description: "profiles of nvprof (nvprof --export-profile)",
        matches: nvprof::sqlite::matches,
        read: nvprof::sqlite::read,
    },
    Format {
        name: "nsys-sqlite",
        description: "SQLite exports of Nsight Systems",
        matches: |head, _| head.starts_with(sqlite::MAGIC),
        read: nsys_sqlite::read,
    },
    Format {
        name: kineto::NAME,
        description: "traces of torch.profiler and other Chrome traces, compressed or not",
        matches: |head, _| {
            matches!(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start(), [b'{' | b'[', ..])
        },
        read: kineto::read,
    },
    Format {
        name: "nvprof-csv",
        description: "printed tables of nvprof: summaries as text or CSV, traces and metrics as CSV",
        matches: |head, _| nvprof::csv::matches(head),
        read: nvprof::csv::read,
    },
];

/// A file that is about to be read.
struct Source<'a> {
    file: &'a Path,
    /// The file's name as messages show it.
    path: &'a str,
    /// Its content, decompressed, from the beginning.
    bytes: Box<dyn Read>,
    /// The file, where its bytes are the content as they lie there.
    plain: Option<Arc<File>>,
    /// Properties of the capture so far.
    capture: Capture,
}

/// Adds the events of the file `path`, which messages and summaries call `shown`, to `trace`.
///
/// # Errors
/// The file cannot be read, or is not a capture of a known format.
pub fn read(path: &Path, shown: &str, trace: &mut Trace, interrupted: Interrupted<'_>) -> Result<()> {
    let opened = open::open(path, interrupted).map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Error::Interrupted,
        ErrorKind::OutOfMemory => memory::fail(None),
        // A file that is there and is no stream of bytes that can be decompressed.
        kind => Error::NotACapture {
            path: shown.to_owned(),
            reason: error.to_string(),
            hint: match kind {
                ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                    "Copy the file again: it is damaged."
                }
                _ => "Use the path of a readable file.",
            }
            .to_owned(),
        },
    })?;
    let Some(format) = FORMATS.iter().find(|format| (format.matches)(&opened.head, path)) else {
        return Err(unknown::explain(shown, &opened.head));
    };
    let (size_bytes, is_file) = (opened.size_bytes, opened.is_file);
    let capture = Capture { path: shown.to_owned(), format: format.name, size_bytes, ..Capture::default() };
    let operations = trace.operations();
    let source = Source { file: path, path: shown, bytes: opened.bytes, plain: opened.plain, capture };
    let is_kineto = format.name == kineto::NAME;
    let read = if is_kineto && !is_file { kineto::read_once } else { format.read };
    let mut capture = read(source, trace, interrupted)?;
    capture.sha256 = is_file.then(|| open::digest(path, size_bytes)).flatten();
    if trace.operations() == operations && is_file && is_kineto {
        again(path, shown, interrupted, |source| kineto::read_operators(source, trace, &mut capture, interrupted))?;
    }
    if capture.events_skipped > 0 {
        trace.warnings.push(skipped(&capture));
    }
    trace.captures.push(capture);
    Ok(())
}

/// Reads a file once more, from its beginning, that was opened a moment ago.
fn again(
    path: &Path,
    shown: &str,
    interrupted: Interrupted<'_>,
    read: impl FnOnce(Source<'_>) -> Result<()>,
) -> Result<()> {
    let Ok(open::Opened { bytes, .. }) = open::open(path, interrupted) else { return Ok(()) };
    let capture = Capture { path: shown.to_owned(), ..Capture::default() };
    read(Source { file: path, path: shown, bytes, plain: None, capture })
}

/// Adds the events of a trace in JSON, of which `step` bytes are read at once, in pieces of `piece` bytes. Neither must make
/// a difference: `fuzz/` compares.
///
/// # Errors
/// The file is no such trace.
///
/// # Panics
/// The file cannot be opened.
#[cfg(any(test, fuzzing))]
pub fn read_grains(path: &Path, shown: &str, trace: &mut Trace, step: usize, piece: u64) -> Result<()> {
    let open::Opened { bytes, plain, .. } = open::open(path, &|| false).expect("a file");
    let capture = Capture { path: shown.to_owned(), format: "kineto", ..Capture::default() };
    let mut capture =
        kineto::read_finely(Source { file: path, path: shown, bytes, plain, capture }, trace, step, piece)?;
    if trace.operations() == 0 {
        again(path, shown, &|| false, |source| kineto::read_operators_finely(source, trace, &mut capture, step))?;
    }
    trace.captures.push(capture);
    Ok(())
}

/// Marks a file that ends, or breaks off, at a byte of its decompressed content, and makes the warning about it.
fn mark_cut(capture: &mut Capture, position: u64, reason: &str) -> Warning {
    capture.cut_short = true;
    Warning {
        code: "capture_incomplete",
        message: format!("events after byte {position} are missing"),
        evidence: format!("{}: {reason}", capture.path),
        hint: "Copy the file again, or capture again: fastrnns-rs profile RUNNER".to_owned(),
    }
}

fn skipped(capture: &Capture) -> Warning {
    let reasons = capture.skipped.iter().map(|skipped| {
        let first = skipped.first_offset_bytes.map_or_else(String::new, |offset| format!(", first at byte {offset}"));
        format!("{} × {}{first}", skipped.count, skipped.reason)
    });
    let (read, lost) = (capture.events_read, capture.events_skipped);
    let message = if capture.cut_short {
        format!("all figures lack at least {} beyond the {read} that were read", counted(lost, "event"))
    } else {
        format!("all figures lack {lost} of {} events", read.saturating_add(lost))
    };
    Warning {
        code: "events_skipped",
        message,
        evidence: format!("{}: {}", capture.path, reasons.collect::<Vec<_>>().join("; ")),
        hint: "Refuse damaged captures: fastrnns-rs report --strict FILE".to_owned(),
    }
}
