//! Messages of the profiler about its own work, such as events that it lost.

use std::sync::LazyLock;

use regex::Regex;
use rusqlite::types::ValueRef;

use super::database::Database;
use super::progress::Progress;
use crate::error::Result;
use crate::trace::{Warning, counted};

pub(super) const TABLE: &str = "DIAGNOSTIC_EVENT";
/// Messages that a warning shows, and characters of each.
const SHOWN: usize = 3;
const SHOWN_CHARACTERS: usize = 200;

/// Returns true if a message of a profiler says that it lost events, and not that it lost none.
#[must_use]
pub fn reports_loss(message: &str) -> bool {
    static LOSS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
        let (things, lost) = (r"\b(?:events?|records?|annotations?)\b", r"\b(?:lost|dropped|discarded)\b");
        let expressions = [
            format!(r"(?is){things}.*{lost}|{lost}.*{things}|\bnot all\b.*\bevents\b"),
            format!(r"(?i)\b(?:0|no) (?:\w+ )?{things}|(?:{things}|{lost})\s*[:=]\s*0\b"),
        ];
        expressions.map(|expression| Regex::new(&expression).expect("an expression"))
    });
    let [loss, none] = &*LOSS;
    loss.is_match(message) && !none.is_match(message)
}

/// Reads the messages, which are events too, and warns of losses.
pub(super) fn read(path: &str, database: &Database, progress: &mut Progress<'_>) -> Result<()> {
    let Some(table) = database.table(TABLE) else { return Ok(()) };
    let (mut rows, mut lost, mut shown) = (0, 0, Vec::new());
    progress.each(database, table, &["text"], |row| {
        rows += 1;
        let Ok(ValueRef::Text(text)) = row.get_ref(0) else { return };
        let text = String::from_utf8_lossy(text);
        if reports_loss(&text) {
            lost += 1;
            if shown.len() < SHOWN {
                // A list of all words of a long message would take much more memory than the message.
                let first: String = text.chars().take(10 * SHOWN_CHARACTERS).collect();
                let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
                shown.push(words.chars().take(SHOWN_CHARACTERS).collect::<String>());
            }
        }
    })?;
    if table.has_events() {
        progress.capture.events_read += rows;
    }
    if lost > 0 {
        progress.warnings.push(Warning {
            code: "recording_incomplete",
            message: "events may be missing, because the profiler lost some".to_owned(),
            evidence: format!("{path}: {}: {}", counted(lost, "message"), shown.join("; ")),
            hint: "Capture less, such as fewer iterations: fastrnns-rs profile --nloops 2 RUNNER".to_owned(),
        });
    }
    Ok(())
}
