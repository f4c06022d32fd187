//! Makes texts from files safe where they are shown: in a terminal, a spreadsheet, a page of markdown, XML and JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character does something other than show itself: moves, colours, reorders, hides, or ends a line.
///
/// Controls, the line ends of Unicode, and what Unicode calls default ignorable: bidirectional and zero-width characters,
/// variation selectors, fillers and tags.
fn acts(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// One line in which every character shows itself: `\n`, `\x1b`, `\u{202e}`.
///
/// Backslashes stay single, so that usual names stay as they are; JSON is the format that loses nothing.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + text.len() / 4);
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '\n' => shown.write_str("\\n"),
            '\r' => shown.write_str("\\r"),
            '\t' => shown.write_str("\\t"),
            c if !acts(c) => shown.write_char(c),
            c if u32::from(c) <= 0xff => write!(shown, "\\x{:02x}", u32::from(c)),
            c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    Cow::Owned(shown)
}

/// A text that no spreadsheet runs as a formula: an apostrophe leads what would be one.
pub(crate) fn spreadsheet(text: &str) -> String {
    // The wide forms begin a formula under Japanese and Chinese settings, and some programs trim spaces first.
    const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];
    let guard = if text.trim_start_matches(' ').starts_with(FORMULA) { "'" } else { "" };
    format!("{guard}{}", visible(text))
}

/// A code span, in which nothing is markup.
pub(crate) fn code_span(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let inner = visible(text);
    let longest = inner.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A backtick at an end would join the fence, and a space at both ends would be taken off.
    let joins = inner.starts_with('`') || inner.ends_with('`');
    let stripped = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim_matches(' ').is_empty();
    let pad = if joins || stripped { " " } else { "" };
    format!("{fence}{pad}{inner}{pad}{fence}")
}

/// A code span for a cell of a pipe table.
///
/// A table is cut into cells before its spans are read, so a pipe needs its backslash even here. Where the name has one
/// there already, parsers differ in whether that escapes ours: such a pipe is named instead.
pub(crate) fn code_cell(text: &str) -> String {
    code_span(text).replace("\\|", "\\x7c").replace('|', "\\|")
}

/// JSON that can be printed: characters that act are written as `\uXXXX`, which means the same.
///
/// They can only stand inside strings, and the line ends that JSON puts between its tokens stay.
pub(crate) fn json(document: &str) -> String {
    let mut safe = String::with_capacity(document.len());
    let mut rest = document;
    // A run file has a million digits for each such character: what lies between is copied whole.
    while let Some((at, c)) = rest.char_indices().find(|&(_, c)| c != '\n' && acts(c)) {
        let (before, after) = rest.split_at(at);
        safe.push_str(before);
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
        rest = after.get(c.len_utf8()..).unwrap_or_default();
    }
    safe + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_act_are_shown() {
        for (text, shown) in [
            ("void f<int>(char)", "void f<int>(char)"),
            ("漢字 e\u{301}", "漢字 e\u{301}"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[31mred\u{7f}\u{9b}0m\0", "\\x1b[31mred\\x7f\\x9b0m\\x00"),
            ("a\u{202e}b\u{2066}c\u{200f}d\u{200b}\u{feff}", "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{200b}\\u{feff}"),
            ("a\u{2028}b\u{e0041}", "a\\u{2028}b\\u{e0041}"),
            ("C:\\new", "C:\\new"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn formulas_are_quoted_and_names_are_not() {
        for text in ["=cmd()", "+1", "-1", "@sum", "\t=1", "\r=1", "  =1", "＝cmd()"] {
            assert!(spreadsheet(text).starts_with('\''), "{text}");
        }
        for text in ["", "a=1", "void f()", "'quoted'", "\"=1\""] {
            assert_eq!(spreadsheet(text), text);
        }
    }

    #[test]
    fn code_spans_hold_what_they_are_given() {
        for (text, span) in [
            ("f<int>", "`f<int>`"),
            ("a|b", "`a|b`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("``a", "``` ``a ```"),
            (" a ", "`  a  `"),
            (" a", "` a`"),
            ("  ", "`  `"),
            ("a\nb", "`a\\nb`"),
            ("end\\", "`end\\`"),
            ("", "(empty)"),
        ] {
            assert_eq!(code_span(text), span);
        }
        for (text, cell) in [("a|b", "`a\\|b`"), ("a\\|b", "`a\\x7cb`"), ("|`", "`` \\|` ``")] {
            assert_eq!(code_cell(text), cell);
        }
    }

    #[test]
    fn json_means_what_it_meant() {
        let text = "a\u{9b}\u{7f}\u{202e}\u{2028}\u{e0041}\u{1b}\n\"\\漢";
        let document = format!("{{\n  \"name\": {}\n}}\n", serde_json::Value::from(text));
        let safe = json(&document);
        assert!(safe.contains("\\u009b\\u007f\\u202e\\u2028\\udb40\\udc41\\u001b\\n"), "{safe}");
        let back: serde_json::Value = serde_json::from_str(&safe).expect("it is still JSON");
        assert_eq!(back["name"], text);
    }
}
