//! What must hold in every format and view, whatever the names are.

use fastrnns_rs::report::summary::{FORMATS, Options, VIEWS, View};
use fastrnns_rs::trace::Summary;
use serde_json::Value;

use super::{by, shown};
use crate::gfm::{cells, code};

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

pub(crate) fn check(summary: &Summary) {
    for format in FORMATS {
        for view in VIEWS {
            let options = Options {
                view: view.value,
                width: Some(100),
                top: (summary.kernels.len() > 3).then_some(3),
                ..by(view.value)
            };
            let text = shown(summary, format.name, options);
            assert!(text.ends_with('\n'), "{} {}", format.name, view.name);
            assert!(!text.chars().any(|c| c != '\n' && acts(c)), "{} {}: {text:?}", format.name, view.name);
        }
    }
    check_csv(summary);
    check_markdown(summary);
    let document: Value = serde_json::from_str(&shown(summary, "json", Options::default())).expect("it is JSON");
    assert_eq!(document, serde_json::to_value(summary).expect("it is a document"));
}

fn check_csv(summary: &Summary) {
    for view in VIEWS {
        let text = shown(summary, "csv", by(view.value));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let count = reader.headers().expect("there are headings").len();
        for record in reader.records() {
            let record = record.expect("every row has as many fields as the first");
            assert_eq!(record.len(), count);
            for field in &record {
                let number = field.parse::<f64>().is_ok();
                assert!(number || !field.trim_start().starts_with(['=', '+', '-', '@']), "{field:?}");
            }
        }
    }
    let text = shown(summary, "csv", by(View::Kernel));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().expect("there are headings").clone();
    let at = headers.iter().position(|header| header == "name").expect("kernels have names");
    let records: Vec<_> = reader.records().map(|record| record.expect("checked above")).collect();
    assert_eq!(records.len(), summary.kernels.len());
    for (record, row) in records.iter().zip(&summary.kernels) {
        if !row.name.contains(|c: char| acts(c) || u32::from(c) > 0x7f) {
            assert_eq!(record[at].trim_start_matches('\''), row.name.trim_start_matches('\''));
        }
    }
}

fn check_markdown(summary: &Summary) {
    for view in VIEWS {
        let text = shown(summary, "markdown", by(view.value));
        let mut columns = None;
        for line in text.lines() {
            if line.starts_with("- ") {
                let (_, note) = line.split_once(": ").expect("a note has a label");
                assert!(note == "(empty)" || code(note).is_some(), "{note}");
            }
            if !line.starts_with('|') {
                columns = None;
                continue;
            }
            let found = cells(line, false);
            assert_eq!(cells(line, true), found);
            assert_eq!(*columns.get_or_insert(found.len()), found.len(), "{line}");
        }
    }
    let text = shown(summary, "markdown", by(View::Kernel));
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    for (line, row) in rows.zip(&summary.kernels) {
        let cell = cells(line, false).pop().expect("the name comes last");
        if row.name.is_empty() {
            assert_eq!(cell, "(empty)");
        } else {
            let name = code(&cell).expect("a name is one code span");
            if !row.name.contains(|c: char| acts(c) || u32::from(c) > 0x7f) {
                assert_eq!(name, row.name.replace("\\|", "\\x7c"));
            }
        }
    }
}
