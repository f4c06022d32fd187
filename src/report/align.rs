//! Puts texts under each other, by what they take on a screen.

use unicode_width::UnicodeWidthChar;

/// From which side a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// The sum of what terminals give each character; escaped texts have no character that acts on its neighbours.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text with spaces up to the width `to`; what is wider stays whole.
pub(super) fn pad(text: &str, to: usize, align: Align) -> String {
    let space = " ".repeat(to.saturating_sub(width(text)));
    match align {
        Align::Left => format!("{text}{space}"),
        Align::Right => format!("{space}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_filled_by_what_a_screen_shows() {
        for (text, left, right) in [
            ("ab", "ab  |", "  ab|"),
            ("漢", "漢  |", "  漢|"),
            ("e\u{301}", "e\u{301}   |", "   e\u{301}|"),
            ("abcde", "abcde|", "abcde|"),
        ] {
            assert_eq!(pad(text, 4, Align::Left) + "|", left);
            assert_eq!(pad(text, 4, Align::Right) + "|", right);
        }
    }
}
