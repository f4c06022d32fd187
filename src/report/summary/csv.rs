//! The rows of the view as RFC 4180 has them: the document's keys, every digit, nothing for what is unknown.

use csv::Writer;

use super::columns::Place;
use super::value::Value;
use super::views::list;
use super::{Names, Options, escape};
use crate::trace::Summary;

pub(super) fn render(summary: &Summary, options: &Options) -> String {
    // A kernel has a column for each of its names, so `name` is the document's whatever was asked for.
    let sheet = list(summary, options.view, (Names::Full, options.top), &|head| head.place != Place::Screen);
    let mut writer = Writer::from_writer(Vec::new());
    let keys = writer.write_record(sheet.heads.iter().map(|head| head.key));
    // Writing to memory cannot fail, and every row has as many cells as there are keys.
    let written = keys.and_then(|()| sheet.rows.iter().try_for_each(|row| writer.write_record(row.iter().map(cell))));
    let bytes = written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// A number is safe as it is: only a text can be made to look like a formula.
fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Text(_) | Value::Differences(_) => escape::spreadsheet(&value.data()),
        number => number.data(),
    }
}
