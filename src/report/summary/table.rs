//! Aligned columns for a terminal.

use unicode_width::UnicodeWidthChar;

use super::align::{self, Align, width};
use super::columns::Head;
use super::notes::Note;
use super::page::{Page, Part};
use super::sheet::Sheet;
use super::value::Value;
use super::{Options, escape};
use crate::trace::Summary;

/// Between two columns.
const GAP: &str = "  ";
/// Texts are not cut shorter than this: a line too wide is better than names that say nothing.
const LEAST_TEXT: usize = 24;
const ELLIPSIS: char = '…';

pub(super) fn render(summary: &Summary, options: &Options) -> String {
    let page = Page::of(summary, options);
    let block = |part: &Part<'_>| match part {
        Part::Sheet(sheet) => draw(sheet, options.width),
        Part::Notes(notes) => notes.iter().map(line).collect(),
        Part::Nothing(nothing) => format!("{nothing}\n"),
    };
    page.parts.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn line(note: &Note) -> String {
    let indent = if matches!(note.label, "seen" | "hint") { GAP } else { "" };
    format!("{indent}{}: {}\n", note.label, escape::visible(&note.text))
}

fn draw(sheet: &Sheet<'_>, limit: Option<usize>) -> String {
    let titles = sheet.heads.iter().map(Head::title).collect();
    let rows = sheet.rows.iter().map(|row| row.iter().zip(&sheet.heads).map(cell).collect());
    let lines: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
    let widths = widths(&sheet.heads, &lines, limit);
    let mut text = format!("{}\n", sheet.title);
    for line in &lines {
        let cells: Vec<_> =
            line.iter().zip(&widths).zip(&sheet.heads).map(|((cell, &width), head)| fit(cell, width, head)).collect();
        text.push_str(cells.join(GAP).trim_end());
        text.push('\n');
    }
    match &sheet.more {
        Some(more) => format!("{text}{ELLIPSIS} {}\n", more.line()),
        None => text,
    }
}

fn cell((value, head): (&Value<'_>, &Head)) -> String {
    match value.text().as_deref() {
        Some("") => "\"\"".to_owned(),
        Some(text) => escape::visible(text).into_owned(),
        None => value.show(head.unit),
    }
}

/// How wide each column is: as its widest cell, but texts give way, the widest first, where the line is too long.
fn widths(heads: &[Head], lines: &[Vec<String>], limit: Option<usize>) -> Vec<usize> {
    let column = |index: usize| lines.iter().map(move |line| width(&line[index])).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..heads.len()).map(column).collect();
    let gaps = GAP.len() * heads.len().saturating_sub(1);
    let whole = widths.iter().sum::<usize>() + gaps;
    let mut excess = limit.map_or(0, |limit| whole.saturating_sub(limit));
    let mut texts: Vec<usize> = (0..heads.len()).filter(|&index| heads[index].unit.is_text()).collect();
    texts.sort_by_key(|&index| std::cmp::Reverse(widths[index]));
    for index in texts {
        let given = excess.min(widths[index].saturating_sub(LEAST_TEXT));
        widths[index] -= given;
        excess -= given;
    }
    widths
}

fn fit(cell: &str, to: usize, head: &Head) -> String {
    let cut = if width(cell) > to { shorten(cell, to) } else { cell.to_owned() };
    align::pad(&cut, to, if head.unit.is_text() { Align::Left } else { Align::Right })
}

/// Cut in the middle: the beginning of a kernel's name says what it is, the end which of its kind.
fn shorten(text: &str, to: usize) -> String {
    let room = to.saturating_sub(1);
    let end = tail(text, room / 2);
    let head = text.chars().scan(room - width(end), |left, c| {
        *left = left.checked_sub(c.width().unwrap_or(0))?;
        Some(c)
    });
    head.chain([ELLIPSIS]).chain(end.chars()).collect()
}

/// The longest end that fits, without the marks of a character that did not.
fn tail(text: &str, room: usize) -> &str {
    let mut left = room;
    let mut start = text.len();
    for (index, c) in text.char_indices().rev() {
        let wide = c.width().unwrap_or(0);
        let Some(rest) = left.checked_sub(wide) else { break };
        left = rest;
        if wide > 0 {
            start = index;
        }
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle_by_what_they_take_on_a_screen() {
        for (text, to, cut) in [
            ("abcdefghij", 10, "abcdefghij"),
            ("abcdefghij", 7, "abc…hij"),
            ("abcdefghij", 6, "abc…ij"),
            ("漢字漢字漢字", 7, "漢字…字"),
            ("漢字漢字漢字", 8, "漢字…字"),
            ("漢字漢字漢字", 9, "漢字…漢字"),
            ("aaaaaae\u{301}e\u{301}", 4, "aa…e\u{301}"),
            ("abc", 1, "…"),
            ("abc", 0, "…"),
        ] {
            let shown = if width(text) > to { shorten(text, to) } else { text.to_owned() };
            assert_eq!(shown, cut, "{text} to {to}");
        }
    }
}
