//! The one rule by which durations and plain numbers become text.

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;

/// Nanoseconds to milliseconds, the unit of every table.
pub fn milliseconds(ns: f64) -> f64 {
    ns / NS_PER_MS
}

/// Four significant digits, never fewer than the integer part has, never an exponent.
///
/// An integer part is not rounded away: `123456.7` is `123457`, not `1.235e+05`, so that a column stays comparable by eye.
///
/// ```
/// use fastrnns_rs::units::significant;
/// assert_eq!(significant(0.012_345_6), "0.01235");
/// assert_eq!(significant(12.345_6), "12.35");
/// assert_eq!(significant(123_456.7), "123457");
/// assert_eq!(significant(0.0), "0");
/// ```
pub fn significant(value: f64) -> String {
    const DIGITS: i32 = 4;
    // Below this a duration in milliseconds is under a femtosecond: digits there would be noise of the arithmetic.
    const MOST_DECIMALS: i32 = 12;
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = |v: f64| (DIGITS - 1 - v.abs().log10().floor() as i32).clamp(0, MOST_DECIMALS);
    let first = decimals(value);
    let text = format!("{value:.*}", first as usize);
    // 9.9996 rounds up to 10.000: one digit too many, so round again with what the result needs.
    let again = text.parse::<f64>().map_or(first, decimals);
    if again < first { format!("{value:.*}", again as usize) } else { text }
}

/// Nanoseconds as milliseconds with four significant digits.
pub fn show_milliseconds(ns: f64) -> String {
    significant(milliseconds(ns))
}

/// Bytes as mebibytes with four significant digits.
pub fn show_mebibytes(bytes: u64) -> String {
    const BYTES: f64 = (1_u64 << 20) as f64;
    significant(bytes as f64 / BYTES)
}

/// A ratio with four significant digits, and up to six decimals where it takes them to tell it from 1; with an exponent
/// where its digits would stand far from the point.
///
/// ```
/// use fastrnns_rs::units::show_ratio;
/// assert_eq!(show_ratio(1.032_14), "1.032");
/// assert_eq!(show_ratio(0.999_96), "0.99996");
/// assert_eq!(show_ratio(1e6), "1000000");
/// assert_eq!(show_ratio(2.5e-9), "2.500e-9");
/// ```
pub fn show_ratio(ratio: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-4..1e7;
    const MOST_DECIMALS: f64 = 6.0;
    if ratio != 0.0 && !PLAIN.contains(&ratio.abs()) {
        return format!("{ratio:.3e}");
    }
    let text = significant(ratio);
    // An interval that leaves 1 out must not look as if it began there.
    let apart = (ratio - 1.0).abs();
    if apart == 0.0 || text.parse() != Ok(1.0) {
        return text;
    }
    let decimals = (-apart.log10()).ceil();
    if decimals > MOST_DECIMALS { text } else { format!("{ratio:.*}", decimals as usize) }
}

/// A fraction in percent, without what binary fractions add to it.
///
/// ```
/// use fastrnns_rs::units::show_percent;
/// assert_eq!(show_percent(1.0 - 2.0 * (1.0 - 0.95)), "90 %");
/// assert_eq!(show_percent(0.999), "99.9 %");
/// ```
pub fn show_percent(fraction: f64) -> String {
    format!("{} %", (fraction * 1e10).round() / 1e8)
}

/// Bytes with four significant digits and the decimal prefix that fits; whole bytes are exact.
///
/// ```
/// use fastrnns_rs::units::show_bytes;
/// assert_eq!(show_bytes(512.0), "512 B");
/// assert_eq!(show_bytes(1_234_567.0), "1.235 MB");
/// ```
pub fn show_bytes(bytes: f64) -> String {
    const PREFIXES: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    const STEP: f64 = 1000.0;
    // From here four digits round up to the next prefix; whole bytes are not rounded.
    const ROUNDS_UP: f64 = 999.95;
    let mut scaled = bytes;
    let mut prefix = 0;
    while prefix + 1 < PREFIXES.len() && scaled.abs() >= if prefix == 0 { STEP } else { ROUNDS_UP } {
        scaled /= STEP;
        prefix += 1;
    }
    let exact = prefix == 0 && scaled.fract() == 0.0;
    let digits = if exact { format!("{scaled}") } else { significant(scaled) };
    format!("{digits} {}", PREFIXES[prefix])
}

/// A float as Python's `repr` writes it, for output that must not differ from a Python program's.
///
/// ```
/// use fastrnns_rs::units::python_repr;
/// assert_eq!(python_repr(1.5), "1.5");
/// assert_eq!(python_repr(2.0), "2.0");
/// assert_eq!(python_repr(0.00004), "4e-05");
/// ```
pub fn python_repr(value: f64) -> String {
    let text = format!("{value:?}");
    // Rust writes `4e-5` where Python writes two digits at least; both change to exponents at the same small values.
    match text.split_once("e-") {
        Some((digits, exponent)) if exponent.len() == 1 => format!("{digits}e-0{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_significant_digits() {
        for (value, text) in [
            (1.0, "1.000"),
            (9.9996, "10.00"),
            (999.96, "1000"),
            (1234.5, "1234"),
            (-0.5, "-0.5000"),
            (1e-6, "0.000001000"),
            (0.99999, "1.000"),
        ] {
            assert_eq!(significant(value), text, "{value}");
        }
    }

    #[test]
    fn ratios_are_on_the_side_of_1_that_they_are_on() {
        for (ratio, text) in [
            (1.0, "1.000"),
            (1.000_49, "1.0005"),
            (1.000_51, "1.001"),
            (0.999_92, "0.9999"),
            (0.999_96, "0.99996"),
            (1.000_02, "1.00002"),
            (1.0 + 1e-9, "1.000"),
            (0.0, "0"),
            (12_345_678.0, "1.235e7"),
            (0.000_099, "9.900e-5"),
            (f64::MAX, "1.798e308"),
        ] {
            assert_eq!(show_ratio(ratio), text);
        }
    }

    #[test]
    fn bytes_take_the_prefix_that_fits() {
        for (bytes, text) in [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (12.5, "12.50 B"),
            (1000.0, "1.000 kB"),
            (999_949.0, "999.9 kB"),
            (999_999.0, "1.000 MB"),
            (2.5e18, "2500 PB"),
        ] {
            assert_eq!(show_bytes(bytes), text);
        }
    }

    #[test]
    fn nanoseconds_are_shown_in_milliseconds() {
        assert_eq!(show_milliseconds(1_234_567.0), "1.235");
        assert_eq!(show_milliseconds(40.0), "0.00004000");
    }
}
