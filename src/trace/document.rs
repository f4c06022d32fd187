//! The document `fastrnns-rs/summary` as text.

use super::{Summary, escape};

impl Summary {
    /// The JSON document, indented, an array of numbers on one line; safe to print, and a newline ends it.
    pub fn to_json(&self) -> String {
        // Only a map whose keys are no texts cannot be written, and a summary has none. What is not finite becomes null.
        let indented = serde_json::to_string_pretty(self).unwrap_or_default();
        let mut text = String::with_capacity(indented.len());
        let mut number = false;
        for line in indented.split_inclusive('\n') {
            // Only an element of an array begins a line with a digit.
            let item = line.trim_start();
            let begins = item.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let ends = number && item.starts_with(']');
            if begins || ends {
                text.truncate(text.trim_end().len());
            }
            text.push_str(if begins || ends { item } else { line });
            number = begins;
        }
        text.push('\n');
        escape::json(&text)
    }
}
