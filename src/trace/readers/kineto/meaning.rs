//! Meaning of values: numbers and texts.

use std::borrow::Cow;

use super::decimal::integer;
use super::value::Value;

/// A whole number that fits.
pub(super) fn whole<T: TryFrom<i64>>(value: Value<'_>) -> Option<T> {
    value.number().and_then(integer).and_then(|number| T::try_from(number).ok())
}

/// Returns the number of a stream or a process, which may be part of a name: `stream 7`.
pub(super) fn number(value: Value<'_>) -> Option<i64> {
    let text = value.number()?;
    integer(text).or_else(|| integer(text.strip_prefix(b"stream ")?))
}

/// Returns what `named` makes of a key. Keys with escapes are rare: no writer that we know escapes letters.
pub(super) fn named<M>(key: &[u8], named: fn(&[u8]) -> M) -> M {
    if key.contains(&b'\\') { named(unescaped(key).0.as_bytes()) } else { named(key) }
}

/// Returns a string without escapes. Invalid escapes and invalid UTF-8 become U+FFFD, and then the second value is true.
pub(super) fn unescaped(raw: &[u8]) -> (Cow<'_, str>, bool) {
    if !raw.contains(&b'\\') {
        let text = String::from_utf8_lossy(raw);
        let broken = matches!(text, Cow::Owned(_));
        return (text, broken);
    }
    let text = String::from_utf8_lossy(raw);
    let broken = matches!(text, Cow::Owned(_));
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    // Line breaks that the writer did not escape.
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if letter.is_ascii_control() => quoted.push('\u{fffd}'),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    match serde_json::from_str::<String>(&quoted) {
        Ok(text) => (Cow::Owned(text), broken),
        // A path of Windows, say: its backslashes are meant.
        Err(_) => (Cow::Owned(text.into_owned()), true),
    }
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn undoes_escapes() {
        assert_eq!(unescaped(br#"a\"b\\c\u0041\n"#), ("a\"b\\cA\n".into(), false));
        assert_eq!(unescaped("模型".as_bytes()), ("模型".into(), false));
        assert_eq!(unescaped(br"C:\path\x"), (r"C:\path\x".into(), true));
        assert!(unescaped(b"a\xffb").1);
        assert_eq!(unescaped(b"a\n\\n"), ("a\n\n".into(), false));
    }
}
