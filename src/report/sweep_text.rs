//! The tables of a sweep as text for a terminal, and as markdown.

use serde::Deserialize;

use super::align::{Align, pad, width};
use super::escape::{code_cell, code_span, visible};
use super::sweep::Sweep;
use super::sweep_blocks::Block;
use crate::error::{Error, Result};

/// The tables of the sweep in a run file; empty where it has none.
///
/// # Errors
/// The text is not a run file.
pub fn render(document: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Swept {
        sweep: Option<Sweep>,
    }
    let found: Swept = serde_json::from_str(document).map_err(|error| Error::NotARun { reason: error.to_string() })?;
    Ok(found.sweep.map(|sweep| sweep.lines().join("\n") + "\n").unwrap_or_default())
}

impl Sweep {
    /// Its tables as lines for a terminal, with an empty one between two.
    pub(super) fn lines(&self) -> Vec<String> {
        let blocks = self.blocks();
        let mut lines = Vec::new();
        for block in &blocks {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(text(block));
        }
        lines
    }

    /// Its tables as lines of markdown, with an empty one before each.
    pub(super) fn markdown(&self) -> Vec<String> {
        self.blocks().iter().flat_map(markdown).collect()
    }
}

fn text(block: &Block) -> Vec<String> {
    let shown = |fields: &[String]| fields.iter().map(|field| visible(field).into_owned()).collect::<Vec<_>>();
    let table: Vec<Vec<String>> = std::iter::once(&block.headings).chain(&block.rows).map(|row| shown(row)).collect();
    let widths: Vec<usize> = (0..block.headings.len())
        .map(|column| table.iter().filter_map(|row| row.get(column)).map(|field| width(field)).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(field, &to)| pad(field, to, Align::Right));
        padded.collect::<Vec<_>>().join("  ")
    };
    let notes = block.notes.iter().map(|note| format!("note: {}", visible(note)));
    std::iter::once(visible(&block.title).into_owned()).chain(table.iter().map(line)).chain(notes).collect()
}

fn markdown(block: &Block) -> Vec<String> {
    let line =
        |row: &Vec<String>| format!("| {} |", row.iter().map(|one| code_cell(one)).collect::<Vec<_>>().join(" | "));
    let mut lines = vec![String::new(), format!("{}:", code_span(&block.title)), String::new(), line(&block.headings)];
    lines.push(format!("|{}", "---:|".repeat(block.headings.len())));
    lines.extend(block.rows.iter().map(line));
    if !block.notes.is_empty() {
        lines.push(String::new());
        lines.extend(block.notes.iter().map(|note| format!("- {}", code_span(note))));
    }
    lines
}
