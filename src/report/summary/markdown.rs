//! Tables for an issue or a README. Texts stand in code spans, where nothing is markup, a mention or a link.

use super::columns::Head;
use super::notes::Note;
use super::page::{Page, Part};
use super::sheet::Sheet;
use super::value::{Unit, Value};
use super::{Options, escape};
use crate::trace::Summary;

pub(super) fn render(summary: &Summary, options: &Options) -> String {
    let page = Page::of(summary, options);
    let block = |part: &Part<'_>| match part {
        Part::Sheet(sheet) => table(sheet),
        Part::Notes(notes) => notes.iter().map(bullet).collect(),
        Part::Nothing(nothing) => format!("{nothing}\n"),
    };
    page.parts.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn bullet(note: &Note) -> String {
    format!("- {}: {}\n", note.label, escape::code_span(&note.text))
}

fn table(sheet: &Sheet<'_>) -> String {
    // A drawn bar is for a terminal: here it would be as wide as a name.
    let shown = |head: &Head| head.unit != Unit::Bar;
    let heads: Vec<_> = sheet.heads.iter().filter(|head| shown(head)).collect();
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("### {}\n\n", sheet.title);
    text.push_str(&row(heads.iter().map(|head| head.title()).collect()));
    let sides = heads.iter().map(|head| if head.unit.is_text() { "---" } else { "---:" });
    text.push_str(&row(sides.map(str::to_owned).collect()));
    for values in &sheet.rows {
        let cells = sheet.heads.iter().zip(values).filter(|(head, _)| shown(head));
        text.push_str(&row(cells.map(|(head, value)| cell(head, value)).collect()));
    }
    match &sheet.more {
        Some(more) => format!("{text}\n{}\n", more.line()),
        None => text,
    }
}

fn cell(head: &Head, value: &Value<'_>) -> String {
    match value.text() {
        Some(text) => escape::code_cell(&text),
        None => value.show(head.unit),
    }
}
