//! Sorting that can be broken off.

use super::check;
use crate::error::Result;
use crate::memory;

/// Sorted in some tens of milliseconds, between which the caller is asked.
const PIECE: usize = 1 << 20;

/// `values` in ascending order (that of [`f64::total_cmp`]).
///
/// # Errors
/// [`crate::error::Error::Interrupted`], if `interrupted` says so.
pub fn sorted(mut values: Vec<f64>, interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    for piece in values.chunks_mut(PIECE) {
        check(interrupted)?;
        piece.sort_unstable_by(f64::total_cmp);
    }
    let mut sorted = PIECE;
    while sorted < values.len() {
        sorted *= 2;
        for pair in values.chunks_mut(sorted) {
            check(interrupted)?;
            // The stable sort finds the two sorted halves and only merges them.
            memory::probe(size_of_val(pair));
            pair.sort_by(f64::total_cmp);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_merged() {
        let scrambled = |i: usize| (i.wrapping_mul(2_654_435_761) % 1_000_003) as f64 - 5e5;
        for n in [0, 1, 1000, 3 * PIECE + 1] {
            let found = sorted((0..n).map(scrambled).collect(), &|| false).expect("not interrupted");
            assert!(found.is_sorted() && found.len() == n, "n = {n}");
        }
        let found = sorted(vec![0.0, f64::INFINITY, -0.0, f64::MIN], &|| false).expect("not interrupted");
        let expected = [f64::MIN, -0.0, 0.0, f64::INFINITY];
        assert!(found.iter().map(|value| value.to_bits()).eq(expected.map(f64::to_bits)));
    }
}
