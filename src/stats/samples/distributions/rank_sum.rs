//! The distribution of the Mann-Whitney statistic if both sides have the same continuous distribution: exact, in whole numbers.
//!
//! The number of the C(n + m, n) divisions of n + m ranks with U = u is the coefficient of qᵘ in the Gaussian binomial
//! coefficient, ∏ (1 − q^(m+i)) / (1 − qⁱ) for i = 1 … n (Andrews, *The Theory of Partitions*, chapter 3). Each factor is a
//! pass of subtractions or additions over the coefficients, in numbers of as many words as the count of all divisions needs.
//! Overflow on the way cancels out, so nothing is rounded.

use crate::error::Result;
use crate::stats::samples::check;

/// 64 MiB of coefficients.
const MOST_WORDS: usize = 1 << 23;
/// Some seconds of additions.
const MOST_WORK: usize = 1 << 31;

/// The distribution of U for two sides of given sizes.
#[derive(Debug, Clone, Copy)]
pub struct RankSum {
    small: usize,
    large: usize,
    /// Words of each count.
    words: usize,
}

impl RankSum {
    /// Makes the distribution for sides of `n` and `m` values.
    pub fn new(n: usize, m: usize) -> Self {
        let (small, large) = (n.min(m), n.max(m));
        // No count exceeds that of all divisions; one bit more than it has makes up for the rounding of its logarithm.
        let bits: f64 = (1..=small.min(MOST_WORDS)).map(|i| (1.0 + large as f64 / i as f64).log2()).sum();
        Self { small, large, words: (bits as usize + 1) / 64 + 1 }
    }

    /// Returns true if the counts up to `u` fit into memory and take no more than seconds.
    pub fn is_feasible(&self, u: usize) -> bool {
        let words = u.saturating_add(1).saturating_mul(self.words);
        // What all divisions take: a product and a quotient for each word, as long as some ten additions.
        let divisions = self.small.saturating_mul(10 * self.words);
        words <= MOST_WORDS && words.saturating_mul(2 * self.small).saturating_add(divisions) <= MOST_WORK
    }

    /// The probability that U does not exceed `u`, which must be feasible and at most half of n · m.
    ///
    /// # Errors
    /// An interruption.
    pub fn lower_tail(&self, u: usize, interrupted: &dyn Fn() -> bool) -> Result<f64> {
        let counts = self.counts(u, interrupted)?;
        let mut below = vec![0; self.words];
        counts.chunks(self.words).for_each(|count| add(&mut below, count));
        Ok(ratio(&below, &self.divisions(interrupted)?))
    }

    /// Returns the largest u up to `most`, which must be feasible, whose lower tail does not exceed `probability`, if there is
    /// one.
    ///
    /// # Errors
    /// An interruption.
    pub fn quantile(&self, probability: f64, most: usize, interrupted: &dyn Fn() -> bool) -> Result<Option<usize>> {
        let counts = self.counts(most, interrupted)?;
        let mut below = vec![0; self.words];
        let all = self.divisions(interrupted)?;
        let is_within = |count: &&[u64]| {
            add(&mut below, count);
            // A tail that is equal may come out a rounding error larger.
            ratio(&below, &all) <= probability * (1.0 + 1e-12)
        };
        Ok(counts.chunks(self.words).take_while(is_within).count().checked_sub(1))
    }

    /// Returns the number of divisions that give 0, 1, … `most`.
    fn counts(&self, most: usize, interrupted: &dyn Fn() -> bool) -> Result<Vec<u64>> {
        let words = self.words;
        let mut counts = vec![0; (most + 1) * words];
        counts[0] = 1;
        for i in 1..=self.small {
            check(interrupted)?;
            let (up, down) = (self.large + i, i);
            for to in (up..=most).rev() {
                let (before, after) = counts.split_at_mut(to * words);
                subtract(&mut after[..words], &before[(to - up) * words..][..words]);
            }
            for to in down..=most {
                let (before, after) = counts.split_at_mut(to * words);
                add(&mut after[..words], &before[(to - down) * words..][..words]);
            }
        }
        Ok(counts)
    }

    /// C(small + large, small).
    fn divisions(&self, interrupted: &dyn Fn() -> bool) -> Result<Vec<u64>> {
        // One word more than the result has, for what is divided next.
        let mut product = vec![0; self.words + 1];
        product[0] = 1;
        for i in 1..=self.small {
            if i.is_multiple_of(256) {
                check(interrupted)?;
            }
            let mut carry = 0_u128;
            for word in &mut product {
                let wide = u128::from(*word) * (self.large + i) as u128 + carry;
                (*word, carry) = (wide as u64, wide >> 64);
            }
            let mut rest = 0_u128;
            for word in product.iter_mut().rev() {
                let wide = (rest << 64) | u128::from(*word);
                (*word, rest) = ((wide / i as u128) as u64, wide % i as u128);
            }
        }
        Ok(product)
    }
}

/// Without the last carry.
fn add(to: &mut [u64], other: &[u64]) {
    let mut carry = false;
    for (word, &other) in to.iter_mut().zip(other) {
        let (sum, over) = word.overflowing_add(other);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        (*word, carry) = (sum, over || over_again);
    }
}

/// Without the last borrow.
fn subtract(from: &mut [u64], other: &[u64]) {
    let mut borrow = false;
    for (word, &other) in from.iter_mut().zip(other) {
        let (difference, under) = word.overflowing_sub(other);
        let (difference, under_again) = difference.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (difference, under || under_again);
    }
}

fn ratio(one: &[u64], other: &[u64]) -> f64 {
    let ((one, one_shift), (other, other_shift)) = (leading(one), leading(other));
    one / other * 2_f64.powi(one_shift - other_shift)
}

/// The first 64 to 128 bits of a number and the power of two that they are to be multiplied by.
fn leading(number: &[u64]) -> (f64, i32) {
    match number.iter().rposition(|&word| word != 0) {
        None => (0.0, 0),
        Some(0) => (number[0] as f64, 0),
        Some(top) => {
            let wide = (u128::from(number[top]) << 64) | u128::from(number[top - 1]);
            (wide as f64, 64 * i32::try_from(top - 1).unwrap_or(i32::MAX / 64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centre_holds_a_half_however_many_words_it_takes() {
        // Where n · m is odd the two halves are mirror images.
        for (n, m) in [(1, 99_999), (7, 9_999), (65, 65), (67, 67), (101, 103)] {
            let distribution = RankSum::new(n, m);
            let half = distribution.lower_tail(n * m / 2, &|| false).expect("not interrupted");
            assert!((half - 0.5).abs() < 1e-15, "{n} {m}: {half}");
        }
    }

    #[test]
    fn too_long_computations_are_not_feasible() {
        assert!(RankSum::new(8, 500_000).is_feasible(2_000_000));
        assert!(!RankSum::new(8, 10_000_000).is_feasible(40_000_000));
        assert!(RankSum::new(8, 10_000_000).is_feasible(1_000));
        assert!(!RankSum::new(100_000_000, 100_000_000).is_feasible(1_000));
    }
}
