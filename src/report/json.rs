//! JSON laid out so that a person can read it: indented, but with an array of numbers on one line.

use serde_json::Value;

const INDENT: &str = "  ";

/// A document as it is laid out; it ends with a newline.
pub(super) fn layout(document: &Value) -> String {
    let mut text = String::new();
    write(document, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            block('[', ']', depth, text, items, |item, text| write(item, depth + 1, text));
        }
        Value::Object(entries) if !entries.is_empty() => {
            block('{', '}', depth, text, entries, |(key, item), text| {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
                write(item, depth + 1, text);
            });
        }
        flat => text.push_str(&flat.to_string()),
    }
}

fn block<I: IntoIterator>(
    open: char,
    close: char,
    depth: usize,
    text: &mut String,
    items: I,
    mut item: impl FnMut(I::Item, &mut String),
) {
    text.push(open);
    for (index, entry) in items.into_iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&INDENT.repeat(depth + 1));
        item(entry, text);
    }
    text.push('\n');
    text.push_str(&INDENT.repeat(depth));
    text.push(close);
}
