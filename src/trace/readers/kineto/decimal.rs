//! Microseconds as text, to whole nanoseconds without a float between: a float holds neither today's epochs with their
//! three decimals nor the nineteen digits of a time in nanoseconds.

/// Converts microseconds in JSON to nanoseconds, to the nearest; `None` if it is not a number or too large.
pub(super) fn microseconds_to_nanoseconds(text: &[u8]) -> Option<i64> {
    plain(text, 3).or_else(|| scaled(text, 3))
}

/// A whole number in JSON; a fraction is rounded.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    plain(text, 0).or_else(|| scaled(text, 0))
}

/// Reads digits alone, or with a point and as many digits after it: the form of nearly every number.
fn plain(text: &[u8], decimals: usize) -> Option<i64> {
    let scale = 10_i64.pow(decimals as u32);
    let number = |text: &[u8]| digits(text).and_then(|number| i64::try_from(number).ok());
    match text.len().checked_sub(decimals + 1) {
        Some(point) if decimals > 0 && text[point] == b'.' => {
            number(&text[..point])?.checked_mul(scale)?.checked_add(number(&text[point + 1..])?)
        }
        _ => number(text)?.checked_mul(scale),
    }
}

/// Reads one to eighteen digits.
#[inline]
pub(super) fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    let (eights, rest) = text.as_chunks::<8>();
    let value = eights.iter().try_fold(0, |value, eight| Some(value * 100_000_000 + eight_digits(*eight)?))?;
    rest.iter().try_fold(value, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| value * 10 + u64::from(digit))
    })
}

/// The same for eight, of which neighbours are put together: to numbers of two digits, of four, of eight.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The first digit stands in the lowest byte. Only digits leave all upper halves empty, whether or not six is added.
    let digits = u64::from_le_bytes(text) ^ (ONES * u64::from(b'0'));
    if (digits | digits.wrapping_add(ONES * 6)) & (ONES * 0xf0) != 0 {
        return None;
    }
    let twos = digits.wrapping_mul((10 << 8) + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = twos.wrapping_mul((100 << 16) + 1) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul((10_000 << 32) + 1) >> 32)
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
