//! Numbers as they are printed, exactly: no digit goes through a fraction of the machine.

/// So many digits are more than nvprof prints, and leave room to multiply.
const DIGITS: usize = 24;

/// Converts a time to nanoseconds, by the unit behind it, or else by that of its column.
pub(super) fn nanoseconds(text: &str, unit: &str) -> Option<u64> {
    let (number, own) = split(text);
    let factor = match if own.is_empty() { unit } else { own } {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    scaled(number, factor)
}

/// Bytes of a size, by the unit behind it, or else by that of its column.
pub(super) fn bytes(text: &str, unit: &str) -> Option<u64> {
    let (number, own) = split(text);
    scaled(number, bytes_in(if own.is_empty() { unit } else { own })?)
}

/// Bytes in a unit of sizes: each is 1024 of the one below it.
fn bytes_in(unit: &str) -> Option<u128> {
    let power = ["B", "KB", "MB", "GB", "TB"].iter().position(|&known| known == unit)?;
    Some(1 << (10 * power))
}

/// The factor that converts numbers of a unit to another one: 1/1024 from `MB/s` to `GB/s`.
pub(super) fn conversion(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let bytes = |unit: &str| bytes_in(unit.strip_suffix("/s").unwrap_or(unit));
    // Powers of two are exact.
    let factor = bytes(from)? as f64 / bytes(to)? as f64;
    (is_rate(from) == is_rate(to)).then_some(factor)
}

/// Returns true for a unit of bytes per second.
pub(super) fn is_rate(unit: &str) -> bool {
    unit.ends_with("/s")
}

/// Splits a number from the text behind it.
pub(super) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E')).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// A decimal number times `factor`, rounded to the nearest whole one.
fn scaled(text: &str, factor: u128) -> Option<u64> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut digits = String::with_capacity(DIGITS);
    digits.push_str(whole.trim_start_matches('0'));
    digits.push_str(fraction);
    if whole.is_empty() || digits.len() > DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() < 64)?;
    let exponent = exponent - i32::try_from(fraction.len()).ok()?;
    let value = if digits.is_empty() { 0 } else { digits.parse::<u128>().ok()? }.checked_mul(factor)?;
    let value = match 10_u128.checked_pow(exponent.unsigned_abs()) {
        Some(power) if exponent < 0 => (value + power / 2) / power,
        Some(power) => value.checked_mul(power)?,
        None if exponent < 0 || value == 0 => 0,
        None => return None,
    };
    u64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn takes_every_form() {
        for (text, unit, found) in [
            ("999", "ns", Some(999)),
            ("1000.000000", "ns", Some(1000)),
            ("1.023289", "s", Some(1_023_289_000)),
            ("0.017473", "ms", Some(17_473)),
            ("1.024000e-03", "ms", Some(1_024)),
            ("75.003ms", "", Some(75_003_000)),
            ("0ns", "us", Some(0)),
            ("0.0015", "us", Some(2)),
            ("18446744073709551616.000000", "ns", None),
            ("", "ns", None),
            ("-1", "ns", None),
            ("1e99", "ns", None),
            ("1", "parsec", None),
            ("nan", "ns", None),
        ] {
            assert_eq!(nanoseconds(text, unit), found, "{text} {unit}");
        }
        assert_eq!(bytes("2.441406e-04", "MB"), Some(256));
        assert_eq!(bytes("0.062500", "MB"), Some(65_536));
        assert_eq!(bytes("48.000KB", ""), Some(49_152));
    }

    proptest! {
        #[test]
        fn is_exact(value in any::<u32>()) {
            let value = u64::from(value) * 7;
            let text = format!("{}.{:06}", value / 1_000_000, value % 1_000_000);
            prop_assert_eq!(nanoseconds(&text, "ms"), Some(value));
        }
    }
}
