//! Microseconds as text, to whole nanoseconds without a float between: a float holds neither today's epochs with their
//! three decimals nor the nineteen digits of a time in nanoseconds.

/// The nanoseconds that a number of microseconds in JSON stands for, to the nearest; `None` if it is no number or too large.
pub(super) fn microseconds_to_nanoseconds(text: &[u8]) -> Option<i64> {
    plain(text, 3).or_else(|| scaled(text, 3))
}

/// A whole number in JSON; a fraction is rounded.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    plain(text, 0).or_else(|| scaled(text, 0))
}

/// Digits alone, or with a point and three digits after it: what nearly every number is.
fn plain(text: &[u8], decimals: usize) -> Option<i64> {
    // Below 10^18, so that nothing overflows.
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    let mut value = 0_i64;
    let mut fraction = None;
    for (place, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + i64::from(digit);
        } else if byte == b'.' && fraction.is_none() && place > 0 {
            fraction = Some(text.len() - place - 1);
        } else {
            return None;
        }
    }
    match fraction {
        None => value.checked_mul(10_i64.pow(decimals as u32)),
        Some(found) if found == decimals && decimals > 0 => Some(value),
        _ => None,
    }
}

/// `text` × 10^`power`, rounded half away from zero.
fn scaled(text: &[u8], power: i64) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let mantissa_end = digits.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(digits.len());
    let exponent = match digits.get(mantissa_end + 1..) {
        Some(exponent) => std::str::from_utf8(exponent).ok()?.parse::<i64>().ok()?.clamp(-1000, 1000),
        None => 0,
    };
    let mantissa = &digits[..mantissa_end];
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // The value is 0.d₁d₂d₃… × 10^`before_point`.
    let before_point = i64::try_from(whole.len()).ok()? + power + exponent;
    let mut value: i64 = 0;
    let mut rounds_up = false;
    for (place, &byte) in (0_i64..).zip(whole.iter().chain(fraction)) {
        let digit = i64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        if place < before_point {
            value = value.checked_mul(10)?.checked_add(digit)?;
        } else if place == before_point {
            rounds_up = digit >= 5;
        }
    }
    let written = i64::try_from(whole.len() + fraction.len()).ok()?;
    if value != 0 {
        for _ in written..before_point {
            value = value.checked_mul(10)?;
        }
    }
    let value = value.checked_add(i64::from(rounds_up))?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keeps_every_nanosecond() {
        let cases: [(&str, Option<i64>); 20] = [
            ("0", Some(0)),
            ("1", Some(1000)),
            ("1.5", Some(1500)),
            ("4203669603454.206", Some(4_203_669_603_454_206)),
            ("1712195495506161.231", Some(1_712_195_495_506_161_231)),
            ("-0.001", Some(-1)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("0.00049999", Some(0)),
            ("1.2345678", Some(1235)),
            ("1e3", Some(1_000_000)),
            ("1.5E+2", Some(150_000)),
            ("15e-4", Some(2)),
            ("1e-9", Some(0)),
            ("0e999999999999", Some(0)),
            ("0e99", Some(0)),
            ("9223372036854775.807", Some(i64::MAX)),
            ("9223372036854775.808", None),
            ("1e17", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(microseconds_to_nanoseconds(text.as_bytes()), expected, "{text}");
        }
        for text in ["-", ".", "1.2.3", "0x10", "1e", "e5", "nan", "Infinity", "1 2", "--1", "1e1e1"] {
            assert_eq!(microseconds_to_nanoseconds(text.as_bytes()), None, "{text}");
        }
        assert_eq!(
            (integer(b"7"), integer(b"7.9"), integer(b"-3"), integer(b"99999999999999999999")),
            (Some(7), Some(8), Some(-3), None)
        );
    }

    proptest! {
        #[test]
        fn agrees_with_integers(whole in 0_i64..4_000_000_000_000_000, thousandths in 0_i64..1000) {
            let text = format!("{whole}.{thousandths:03}");
            prop_assert_eq!(microseconds_to_nanoseconds(text.as_bytes()), Some(whole * 1000 + thousandths));
        }

        #[test]
        fn takes_any_bytes(text in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = microseconds_to_nanoseconds(&text);
        }
    }
}
