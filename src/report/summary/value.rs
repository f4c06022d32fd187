//! A number or a text on its way from a summary into a cell.

use std::borrow::Cow;

use crate::trace::Difference;
use crate::units::{show_bytes, show_milliseconds, significant};

/// What a cell holds, before anyone decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Unknown,
    Text(&'a str),
    Whole(i128),
    Real(f64),
    Shape([u32; 3]),
    /// A mark on rows that stand out.
    Flag(bool),
    /// What an iteration did differently.
    Differences(&'a [Difference]),
}

/// What a column measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Text,
    /// A number without a unit: how many, or which.
    Plain,
    Nanoseconds,
    Bytes,
    /// Part of a whole, shown in percent.
    Fraction,
    GigabytesPerSecond,
    Shape,
    /// A fraction once more, drawn.
    Bar,
}

/// What stands for a number that is not known.
const UNKNOWN: &str = "-";
/// Characters of a bar that stands for the whole.
const BAR: f64 = 20.0;
/// So many differences are shown to people: the largest, and the rest says little.
const DIFFERENCES: usize = 3;
/// The smallest share that two decimals can show, in percent.
const LEAST_PERCENT: f64 = 0.01;

impl Unit {
    /// What a heading names; sizes name theirs in each cell, because they span so many magnitudes.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ms",
            Self::Fraction => "%",
            Self::GigabytesPerSecond => "GB/s",
            Self::Text | Self::Plain | Self::Bytes | Self::Shape | Self::Bar => "",
        }
    }

    /// Whether cells are read from the left.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Bar)
    }
}

impl<'a> Value<'a> {
    /// For people, what somebody else may have written, as it came: the caller's to escape.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        match *self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Differences([]) => None,
            Self::Differences(rows) => Some(Cow::Owned(differences(rows))),
            _ => None,
        }
    }

    /// For people, as it came: texts are the caller's to escape.
    pub(super) fn show(&self, unit: Unit) -> String {
        let number = match *self {
            Self::Unknown => return UNKNOWN.to_owned(),
            Self::Text(text) => return text.to_owned(),
            Self::Shape([x, y, z]) => return format!("{x}x{y}x{z}"),
            Self::Flag(raised) => return if raised { "yes" } else { "" }.to_owned(),
            Self::Differences(rows) => return differences(rows),
            Self::Whole(number) if unit == Unit::Plain => return number.to_string(),
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        };
        match unit {
            Unit::Nanoseconds => show_milliseconds(number),
            Unit::Bytes => show_bytes(number),
            Unit::Fraction => percent(number),
            Unit::Bar => "#".repeat((number * BAR).round().clamp(0.0, BAR) as usize),
            Unit::Text | Unit::Plain | Unit::GigabytesPerSecond | Unit::Shape => significant(number),
        }
    }

    /// For programs: every digit, nothing for what is unknown. Texts are the caller's to escape.
    pub(super) fn data(&self) -> String {
        match *self {
            Self::Unknown => String::new(),
            Self::Text(text) => text.to_owned(),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Shape(_) => self.show(Unit::Shape),
            Self::Flag(raised) => raised.to_string(),
            Self::Differences(rows) => {
                let parts: Vec<_> = rows.iter().map(|row| format!("{}:{}", row.category, row.delta_ns)).collect();
                parts.join(" ")
            }
        }
    }

    /// Itself where it is a number.
    pub(super) fn number(self) -> Option<Value<'static>> {
        match self {
            Self::Whole(number) => Some(Value::Whole(number)),
            Self::Real(number) => Some(Value::Real(number)),
            Self::Unknown | Self::Text(_) | Self::Shape(_) | Self::Flag(_) | Self::Differences(_) => None,
        }
    }

    /// The sum of two; unknown where either is, because part of a sum passes for the whole.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Self::Whole(a.saturating_add(b)),
            (Self::Real(a), Self::Real(b)) => (a + b).into(),
            _ => Self::Unknown,
        }
    }
}

/// `gemm +1.500 ms, layout -0.2000 ms`.
pub(super) fn differences(rows: &[Difference]) -> String {
    let parts = rows.iter().take(DIFFERENCES).map(|row| {
        let sign = if row.delta_ns < 0 { '-' } else { '+' };
        format!("{} {sign}{} ms", row.category, show_milliseconds(row.delta_ns.unsigned_abs() as f64))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Two decimals, so that a column of shares stays aligned.
fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent > 0.0 && percent < LEAST_PERCENT { format!("<{LEAST_PERCENT}") } else { format!("{percent:.2}") }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Real(number) } else { Self::Unknown }
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Whole(number.into())
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Whole(number.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<[u32; 3]> for Value<'_> {
    fn from(shape: [u32; 3]) -> Self {
        Self::Shape(shape)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short_for_people_and_exact_for_programs() {
        let seconds = Value::from(1_234_567_890_u64);
        assert_eq!((seconds.show(Unit::Nanoseconds), seconds.data()), ("1235".to_owned(), "1234567890".to_owned()));
        let third = Value::from(1.0 / 3.0);
        assert_eq!((third.show(Unit::Fraction), third.data()), ("33.33".to_owned(), "0.3333333333333333".to_owned()));
        assert_eq!(Value::from([8_u32, 2, 1]).show(Unit::Shape), "8x2x1");
        assert_eq!(Value::from(u64::MAX).show(Unit::Plain), "18446744073709551615");
    }

    #[test]
    fn shares_at_the_ends() {
        for (fraction, text) in [(0.0, "0.00"), (1e-9, "<0.01"), (1.0, "100.00"), (2.5, "250.00")] {
            assert_eq!(Value::Real(fraction).show(Unit::Fraction), text);
        }
        for (fraction, marks) in [(-1.0, 0), (0.0, 0), (0.5, 10), (1.0, 20), (7.0, 20)] {
            assert_eq!(Value::Real(fraction).show(Unit::Bar).len(), marks);
        }
    }

    #[test]
    fn differences_have_their_signs() {
        let row = |category: &str, delta_ns| Difference { category: category.to_owned(), delta_ns };
        let rows = [row("gemm", 1_500_000), row("layout", -200_000), row("a", i64::MIN), row("b", 1)];
        let value = Value::Differences(&rows);
        let shown = "gemm +1.500 ms, layout -0.2000 ms, a -9223372036855 ms";
        assert_eq!((value.show(Unit::Text), value.text().as_deref()), (shown.to_owned(), Some(shown)));
        assert_eq!(value.data(), "gemm:1500000 layout:-200000 a:-9223372036854775808 b:1");
        assert_eq!(Value::Differences(&[]).text(), None);
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        for value in [Value::from(f64::NAN), Value::from(f64::INFINITY), Value::from(None::<u64>)] {
            assert_eq!((value.show(Unit::Nanoseconds), value.data()), ("-".to_owned(), String::new()));
            assert_eq!(Value::Whole(1).plus(value), Value::Unknown);
        }
        assert_eq!(Value::Real(f64::MAX).plus(Value::Real(f64::MAX)), Value::Unknown);
    }
}
