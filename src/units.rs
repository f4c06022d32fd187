//! Plain numbers as text, where the core itself has to show them: in messages, reasons and `repr`.

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

/// Returns a fraction in percent, without the error of binary fractions.
///
/// ```
/// use fastrnns_rs::units::show_percent;
/// assert_eq!(show_percent(1.0 - 2.0 * (1.0 - 0.95)), "90 %");
/// assert_eq!(show_percent(0.999), "99.9 %");
/// ```
pub fn show_percent(fraction: f64) -> String {
    format!("{} %", (fraction * 1e10).round() / 1e8)
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
}
