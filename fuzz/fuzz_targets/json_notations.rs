//! Notations of JSON texts: spaces, escapes and exponents where other writers put them.

use fastrand::Rng;

/// Compact JSON as it is, as Python writes it, or with what few writers use.
pub(crate) fn noted(compact: Vec<u8>, dice: &mut Rng) -> Vec<u8> {
    match dice.u8(..4) {
        0 => rewritten(&compact, spaced),
        1 => rewritten(&compact, |out, byte, in_text| unusual(out, byte, in_text, dice)),
        _ => compact,
    }
}

/// Writes each byte by `write`, which gets whether it is inside of a text; escapes are kept.
fn rewritten(compact: &[u8], mut write: impl FnMut(&mut Vec<u8>, u8, bool)) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * compact.len());
    let (mut in_text, mut in_escape) = (false, 0);
    for &byte in compact {
        if in_escape > 0 {
            // The four digits of a code count as parts of its escape.
            in_escape += if in_escape == 1 && byte == b'u' { 3 } else { -1 };
            out.push(byte);
        } else if in_text && byte == b'\\' {
            in_escape = 1;
            out.push(byte);
        } else {
            in_text ^= byte == b'"';
            write(&mut out, byte, in_text);
        }
    }
    out
}

fn spaced(out: &mut Vec<u8>, byte: u8, in_text: bool) {
    out.push(byte);
    if !in_text && matches!(byte, b',' | b':') {
        out.push(b' ');
    }
}

fn unusual(out: &mut Vec<u8>, byte: u8, in_text: bool, dice: &mut Rng) {
    if in_text {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' if dice.u8(..16) == 0 => {
                out.extend(format!("\\u{byte:04x}").bytes());
            }
            _ => out.push(byte),
        }
        return;
    }
    let mut seldom = |parts: &[&'static str]| if dice.u8(..8) == 0 { parts[dice.usize(..parts.len())] } else { "" };
    let is_mark = matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':');
    if is_mark && out.last().is_some_and(u8::is_ascii_digit) {
        out.extend(seldom(&["e0", "E+1", "e-1", ".0", "0"]).bytes());
    }
    for place in 0..2 {
        if place == 1 {
            out.push(byte);
        }
        if is_mark {
            out.extend(seldom(&[" ", "\n", "\t", "\r", "\r\n  "]).bytes());
        }
    }
}
