//! A natural logarithm without branches or calls, so that a loop over it becomes vector code.
//!
//! The method is that of fdlibm's `e_log.c` (Sun Microsystems, 1993): below one unit in the last place, and the same bytes on
//! every machine, which a platform's own `log` does not promise.

use std::f64::consts::FRAC_1_SQRT_2;

const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Coefficients of the polynomial in s² for ln((1 + s) / (1 − s)).
const COEFFICIENTS: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];
const MANTISSA_BITS: u32 = 52;
const MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;
/// The upper half of √½: mantissas are brought between it and twice it.
const LEAST: u64 = FRAC_1_SQRT_2.to_bits() & !(u32::MAX as u64);

/// The natural logarithm of a normal number above 0.
#[inline(always)]
#[allow(clippy::inline_always, reason = "compiled into loops for several sets of instructions")]
pub(super) fn ln(value: f64) -> f64 {
    // A whole number put into the low bits of 2^52 is converted by a subtraction, for which every vector unit has a word.
    const WHOLE: f64 = (1_u64 << MANTISSA_BITS) as f64;
    let shifted = value.to_bits().wrapping_add(1.0_f64.to_bits() - LEAST);
    let exponent = f64::from_bits(WHOLE.to_bits() | (shifted >> MANTISSA_BITS)) - WHOLE - 1023.0;
    let f = f64::from_bits((shifted & MANTISSA) + LEAST) - 1.0;

    let [l1, l2, l3, l4, l5, l6, l7] = COEFFICIENTS;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (l2 + w * (l4 + w * l6));
    let odd = z * (l1 + w * (l3 + w * (l5 + w * l7)));
    s * (half_square + (odd + even)) + exponent * LN_2_LOW - half_square + f + exponent * LN_2_HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_platform() {
        let mut value = f64::MIN_POSITIVE;
        while value < 1e300 {
            let (found, expected) = (ln(value), value.ln());
            assert!((found - expected).abs() <= 2.0 * f64::EPSILON * expected.abs(), "{value}: {found}, {expected}");
            value *= 1.003_71;
        }
        for i in 0..2000 {
            let value = 1.0 + f64::from(i - 1000) * 1e-9;
            assert!((ln(value) - value.ln()).abs() <= 2.0 * f64::EPSILON * value.ln().abs(), "{value}");
        }
        assert!(ln(1.0).to_bits() == 0);
    }
}
