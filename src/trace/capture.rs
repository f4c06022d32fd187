//! What is known of a capture as a whole.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// Events of a capture that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// Where the first stands in the text, decompressed; `None` in a database.
    pub first_offset_bytes: Option<u64>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// As it was given.
    pub path: String,
    /// The row of [`super::readers::FORMATS`].
    #[serde(deserialize_with = "word")]
    pub format: Word,
    /// The version that the file gives of its own form.
    pub format_version: Option<String>,
    /// The version of the program that wrote it.
    pub tool_version: Option<String>,
    /// Of the file as it lies on the disk.
    pub sha256: Option<String>,
    /// Of the file as it lies on the disk.
    pub size_bytes: u64,
    /// Events that were understood, whether or not a summary counts them.
    pub events_read: u64,
    /// The sum of what `skipped` counts.
    pub events_skipped: u64,
    /// Why events are missing.
    pub skipped: Vec<Skipped>,
    /// Whether graphs were captured as a whole, so that their kernels are missing.
    pub graph_level: bool,
    /// Which of the processes of a distributed job wrote it, as far as it says so.
    pub rank: Option<i64>,
    /// How many processes that job had.
    pub world_size: Option<u64>,
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
        self.events_skipped += count;
        match self.skipped.iter_mut().find(|skipped| skipped.reason == reason) {
            Some(skipped) => skipped.count += count,
            None => self.skipped.push(Skipped { reason: reason.to_owned(), count, first_offset_bytes: offset }),
        }
    }
}

/// A file that stood among captures and is none, or none that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// As it was given.
    pub path: String,
    /// What it looks like, or what is wrong with it.
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
    /// What was seen.
    pub evidence: String,
    /// What to do.
    pub hint: String,
}

impl LeftOut {
    /// What is to be said of them together; there may be thousands.
    pub(super) fn warning(all: &[Self]) -> Option<Warning> {
        let (first, others) = all.split_first()?;
        let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
        let named = all.iter().take(10).map(|file| format!("{}: {}", file.path, file.reason));
        Some(Warning {
            code: "files_left_out",
            message: format!("{} is left out{more}: no capture that can be read", first.path),
            evidence: named.collect::<Vec<_>>().join("; "),
            hint: "give the files themselves where one of these is meant".to_owned(),
        })
    }
}

/// A word that stands in the program: the name of a format, the code of a warning.
pub(super) type Word = &'static str;

/// Far more than there are: what is kept for good must have an end.
const MOST: usize = 1024;
const LONGEST: usize = 64;

/// The word that stands there, kept for good the first time that it comes.
pub(super) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let text = <&str>::deserialize(from)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_./".contains(&byte);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = known.get(text) {
        return Ok(word);
    }
    if text.len() > LONGEST || known.len() == MOST || !text.bytes().all(plain) {
        return Err(D::Error::custom("a word that no version has"));
    }
    let word = Box::leak(text.to_owned().into_boxed_str());
    known.insert(word);
    Ok(word)
}
