//! Properties of a capture as a whole.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// Events of a capture that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Reason.
    pub reason: String,
    /// Number of events.
    pub count: u64,
    /// Position of the first event in the decompressed text; `None` in a database.
    pub first_offset_bytes: Option<u64>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Path as given.
    pub path: String,
    /// The row of [`super::readers::FORMATS`].
    #[serde(deserialize_with = "word")]
    pub format: Word,
    /// The version that the file gives of its own form.
    pub format_version: Option<String>,
    /// The version of the program that wrote it.
    pub tool_version: Option<String>,
    /// SHA-256 of the file on the disk.
    pub sha256: Option<String>,
    /// Size of the file on the disk.
    pub size_bytes: u64,
    /// Events that were understood, whether or not a summary counts them.
    pub events_read: u64,
    /// Sum of the counts in `skipped`. The rest of a table, and an event in which a file ends, count as one.
    pub events_skipped: u64,
    /// Reasons of missing events.
    pub skipped: Vec<Skipped>,
    /// True if graphs were captured as a whole, so that their kernels are missing.
    pub graph_level: bool,
    /// Rank of the process of a distributed job that wrote the file, if it records it.
    pub rank: Option<i64>,
    /// Number of processes of that job.
    pub world_size: Option<u64>,
    /// Conditions under which it was captured.
    pub environment: CaptureEnvironment,
    /// True if a table, or the file, breaks off: more events than `events_skipped` may be missing.
    pub cut_short: bool,
}

/// Host, versions and settings of the profiler, as far as a file records them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureEnvironment {
    pub host_name: Option<String>,
    pub gpu_driver_version: Option<String>,
    /// The newest CUDA that the driver supports.
    pub cuda_driver_version: Option<String>,
    pub cuda_runtime_version: Option<String>,
    /// Settings of torch.profiler that take time on the host, also the others.
    pub record_shapes: Option<bool>,
    pub profile_memory: Option<bool>,
    pub with_stack: Option<bool>,
    pub with_flops: Option<bool>,
    pub with_modules: Option<bool>,
}

/// Longest text of an environment, in bytes.
const LONGEST_TEXT: usize = 128;

impl CaptureEnvironment {
    /// Returns a text that a file may have for a value: nothing and 0 are none.
    pub fn text(text: &str) -> Option<String> {
        (!text.is_empty() && text != "0" && text.len() <= LONGEST_TEXT).then(|| text.to_owned())
    }

    /// Returns a version of CUDA as `12.9`, from the number that its API has for it.
    pub fn cuda_version(text: &str) -> Option<String> {
        let dotted = |number: u32| format!("{}.{}", number / 1000, number % 1000 / 10);
        let is_version = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        Self::text(text).filter(is_version).map(|text| text.parse().map_or(text, dotted))
    }
}

impl Capture {
    /// Counts an event that could not be read.
    pub fn skip(&mut self, reason: &str, offset: Option<u64>) {
        self.skip_many(reason, 1, offset);
    }

    /// Counts events that could not be read for one reason.
    pub fn skip_many(&mut self, reason: &str, count: u64, offset: Option<u64>) {
        if count == 0 {
            return;
        }
        // A file may give any number.
        self.events_skipped = self.events_skipped.saturating_add(count);
        match self.skipped.iter_mut().find(|skipped| skipped.reason == reason) {
            Some(skipped) => skipped.count = skipped.count.saturating_add(count),
            None => self.skipped.push(Skipped { reason: reason.to_owned(), count, first_offset_bytes: offset }),
        }
    }
}

/// A file among captures that is not a capture, or cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Path as given.
    pub path: String,
    /// Kind of the file, or its fault.
    pub reason: String,
}

/// Something that a reader of a summary must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable word for it.
    #[serde(deserialize_with = "word")]
    pub code: Word,
    /// One line.
    pub message: String,
    /// Numbers and names that led to the warning.
    pub evidence: String,
    /// Imperative sentence with the next step.
    pub hint: String,
}

impl LeftOut {
    /// Makes one warning for all skipped files; there may be thousands.
    pub(super) fn warning(all: &[Self]) -> Option<Warning> {
        if all.is_empty() {
            return None;
        }
        let mut named: Vec<_> = all.iter().take(10).map(|file| format!("{}: {}", file.path, file.reason)).collect();
        if all.len() > named.len() {
            named.push(format!("and {} more", all.len() - named.len()));
        }
        Some(Warning {
            code: "files_left_out",
            message: format!("figures do not include {}: not a readable capture", counted(all.len() as u64, "file")),
            evidence: named.join("; "),
            hint: "Use the paths of captures instead of their folder.".to_owned(),
        })
    }
}

/// Returns a number with its noun, for the texts of warnings.
pub(in crate::trace) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Name of a format, or code of a warning.
pub(super) type Word = &'static str;

/// Limits of stored names, far above their number: names are stored for good.
const MOST: usize = 1024;
const LONGEST: usize = 64;

/// Reads a name, and stores it for good the first time.
pub(super) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let text = <&str>::deserialize(from)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_./".contains(&byte);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = known.get(text) {
        return Ok(word);
    }
    if text.len() > LONGEST || known.len() == MOST || !text.bytes().all(plain) {
        return Err(D::Error::custom("unknown name"));
    }
    let word = Box::leak(text.to_owned().into_boxed_str());
    known.insert(word);
    Ok(word)
}
