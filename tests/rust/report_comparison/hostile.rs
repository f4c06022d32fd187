//! What must hold in every format, whatever names, reasons and values are.

use fastrnns_rs::report::comparison::FORMATS;
use proptest::prelude::*;
use serde_json::Value;

use super::rendered;
use super::sample::{HOSTILE, hostile};
use crate::gfm::{cells, code};

/// Controls, line ends of Unicode, and what turns or hides text.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn check(text: &str) {
    let document = hostile(text);
    for format in FORMATS {
        let shown = rendered(&document, format.name);
        assert!(shown.ends_with('\n'), "{}", format.name);
        assert!(!shown.chars().any(|c| c != '\n' && acts(c)), "{}: {shown:?}", format.name);
    }
    let back: Value = serde_json::from_str(&rendered(&document, "json")).expect("it is JSON");
    assert_eq!(back, document);
    check_table(&rendered(&document, "table"));
    check_markdown(&rendered(&document, "markdown"));
    check_junit(&rendered(&document, "junit"));
}

/// A text cannot add lines, nor push what stands behind it out of its column.
fn check_table(shown: &str) {
    let plain = rendered(&hostile("plain"), "table");
    assert_eq!(shown.lines().count(), plain.lines().count(), "{shown}");
    let rows: Vec<&str> = shown.lines().skip(3).take(11).collect();
    let width = |text: &str| unicode_width(text);
    let verdicts = rows.iter().filter_map(|row| {
        ["↑ slower", "↓ faster", "= equiv", "? incon", "- no ver"]
            .iter()
            .find_map(|word| row.rfind(word))
            .map(|at| width(&row[..at]))
    });
    let verdicts: Vec<usize> = verdicts.collect();
    assert_eq!(verdicts, [verdicts[0]; 9], "{shown}");
}

/// Wide characters take two columns, marks none.
fn unicode_width(text: &str) -> usize {
    text.chars().map(|c| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0)).sum()
}

fn check_markdown(shown: &str) {
    let plain = rendered(&hostile("plain"), "markdown");
    assert_eq!(shown.lines().count(), plain.lines().count(), "{shown}");
    for (line, model) in shown.lines().zip(plain.lines()) {
        if line.starts_with('|') {
            let found = cells(line, false);
            assert_eq!(found, cells(line, true));
            let expected = cells(model, false);
            assert_eq!(found.len(), expected.len(), "{line}");
            for (cell, expected) in found.iter().zip(&expected) {
                let quoted = expected.starts_with('`');
                assert!(if quoted { cell == "(empty)" || code(cell).is_some() } else { cell == expected }, "{line}");
            }
        } else if !model.contains('`') {
            assert_eq!(line, model);
        } else if let Some((_, note)) = model.split_once("seen: ") {
            assert_eq!(note, "`plain`");
            let (_, note) = line.split_once("seen: ").expect("a note has a label");
            assert!(code(note).is_some(), "{note}");
        }
    }
}

/// As many elements as a harmless text makes, and only characters that XML 1.0 has.
fn check_junit(shown: &str) {
    let plain = rendered(&hostile("plain"), "junit");
    for c in ['<', '>'] {
        assert_eq!(shown.matches(c).count(), plain.matches(c).count(), "{shown}");
    }
    assert_eq!(shown.lines().count(), plain.lines().count());
    assert!(shown.chars().all(|c| matches!(c, '\n' | ' '..='\u{fffd}' | '\u{10000}'..)), "{shown:?}");
    for (at, _) in shown.match_indices('&') {
        let entity = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"].iter().any(|entity| shown[at..].starts_with(entity));
        assert!(entity, "{}", &shown[at..]);
    }
}

#[test]
fn hostile_texts_break_nothing() {
    let long = "x".repeat(10_000);
    for text in HOSTILE.into_iter().chain([long.as_str()]) {
        check(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_breaks_a_format(text in "[\\\\|`\"'=+@<>&*_ \\n\\r\\t\u{1b}\u{9b}a]{0,12}|\\PC{0,20}|.{0,8}") {
        check(&text);
    }
}
