//! Makes JSON with text from files safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns true if a character does not just show itself: it moves, colours, reorders, hides, or ends a line.
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

/// JSON that can be printed: characters that act are written as `\uXXXX`, which means the same.
///
/// They can only stand inside strings, and the line ends that JSON puts between its tokens stay.
pub(crate) fn json(document: &str) -> Cow<'_, str> {
    // Most names are plain, and need no copy.
    if document.bytes().all(|byte| byte == b'\n' || matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(document);
    }
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
    Cow::Owned(safe + rest)
}
