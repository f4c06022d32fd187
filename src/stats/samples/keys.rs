//! Floats as whole numbers in the same order, which sort by their digits and can be halved between.

const SIGN: u64 = 1 << 63;

/// A whole number in the order of the floats ([`f64::total_cmp`]): the larger a negative one's bits, the smaller it is.
#[inline]
pub(crate) fn to_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The float of such a number.
#[inline]
pub(crate) fn from_key(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key ^ SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order() {
        let ladder = [f64::MIN, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::MAX, f64::INFINITY];
        assert!(ladder.iter().map(|&value| to_key(value)).is_sorted_by(|one, other| one < other));
        assert!(ladder.iter().all(|&value| from_key(to_key(value)).to_bits() == value.to_bits()));
    }
}
