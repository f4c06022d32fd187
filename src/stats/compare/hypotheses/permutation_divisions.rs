//! Divisions of a pool into two sides: bits, one a value, set for the smaller side.
#![allow(clippy::inline_always, reason = "compiled for the processor with the loop that calls it")]

use crate::memory;
use crate::stats::samples::random::Stream;

/// Number of values of a word of bits.
pub(super) const WORD: usize = u64::BITS as usize;

/// Draws divisions, each as likely as any other.
///
/// Every value is first given to a side by coins of about the right bias, a word of them at once. How many that puts on the
/// smaller side is random, but which ones is not favoured by anything; so values that are then moved at random, until the
/// number is right, leave every division equally likely. Some √n values are moved, where a shuffle draws n.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisions {
    /// Values of the pool, and of the smaller side.
    pool: usize,
    small: usize,
    /// The bias, `numerator` of 2 to the power `coins`.
    numerator: u64,
    coins: u32,
}

impl Divisions {
    /// Makes the divisions of `pool` values, of which `small`, at most half, go to one side.
    pub(super) fn new(pool: usize, small: usize) -> Self {
        const MOST_COINS: u32 = 16;
        let share = small as f64 / pool as f64;
        // More coins than make the bias small compared with chance would only cost time. A side that is nearly nothing starts empty:
        // to take values out of it would be to look for them.
        let spread = (pool as f64 * share * (1.0 - share)).sqrt();
        let numerator = |coins: u32| (share * f64::from(1_u32 << coins)).round();
        let is_close =
            |coins: u32| (numerator(coins) / f64::from(1_u32 << coins) - share).abs() * pool as f64 <= spread / 2.0;
        let coins = if share < 1.0 / WORD as f64 {
            0
        } else {
            (1..MOST_COINS).find(|&coins| is_close(coins)).unwrap_or(MOST_COINS)
        };
        Self { pool, small, numerator: if coins == 0 { 0 } else { numerator(coins) as u64 }, coins }
    }

    /// Fills `bits`, which has room for the pool.
    #[inline(always)]
    pub(super) fn draw(&self, stream: &mut Stream, bits: &mut [u64]) {
        let mut set = 0;
        for (word, number) in bits.iter_mut().zip(0..) {
            // The lowest binary digit of the bias first: each coin halves what is so far, and adds a half where it is 1.
            *word = 0;
            for digit in 0..self.coins {
                let coin = stream.bits();
                *word = if (self.numerator >> digit) & 1 == 1 { *word | coin } else { *word & coin };
            }
            let beyond = ((number + 1) * WORD).saturating_sub(self.pool);
            *word &= u64::MAX >> beyond.min(WORD - 1);
            set += word.count_ones() as usize;
        }
        let unwanted = u64::from(set > self.small);
        let mut left = set.abs_diff(self.small);
        while left > 0 {
            let place = stream.below(self.pool);
            let (word, bit) = (&mut bits[place / WORD], place % WORD);
            // No branch: whether the value stands on the side it is to leave cannot be foreseen.
            let moved = u64::from((*word >> bit) & 1 == unwanted);
            *word ^= moved << bit;
            left -= moved as usize;
        }
    }
}

/// All divisions one after the other, in lexicographic order of the smaller side's places.
#[derive(Debug, Clone)]
pub(super) struct AllDivisions {
    pool: usize,
    places: Vec<usize>,
}

impl AllDivisions {
    /// Counts the divisions, if there are no more than `most`.
    pub(super) fn count(pool: usize, small: usize, most: u64) -> Option<u64> {
        (1..=small as u128)
            .try_fold(1_u128, |count, i| {
                // Every one of these is a binomial coefficient too, and they ascend.
                let next = count * ((pool - small) as u128 + i) / i;
                (next <= u128::from(most)).then_some(next)
            })
            .map(|count| count as u64)
    }

    /// Starts with the smaller side's values in front, and their bits in `bits`, which are 0.
    pub(super) fn start(pool: usize, small: usize, bits: &mut [u64]) -> Self {
        (0..small).for_each(|place| bits[place / WORD] |= 1 << (place % WORD));
        Self { pool, places: memory::collected(0..small) }
    }

    /// Moves `bits` on to the next; back to nothing after the last.
    pub(super) fn advance(&mut self, bits: &mut [u64]) {
        let small = self.places.len();
        let last = |index: usize| self.pool - small + index;
        let Some(first) = (0..small).rev().find(|&index| self.places[index] < last(index)) else { return };
        let start = self.places[first] + 1;
        for place in &self.places[first..] {
            bits[place / WORD] &= !(1 << (place % WORD));
        }
        for (place, value) in self.places[first..].iter_mut().zip(start..) {
            *place = value;
            bits[value / WORD] |= 1 << (value % WORD);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn ones(bits: &[u64]) -> usize {
        bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[test]
    fn every_division_is_as_likely() {
        for (pool, small) in [(6, 3), (7, 2), (8, 1), (70, 1)] {
            let mut counts: HashMap<Vec<u64>, u32> = HashMap::new();
            let (divisions, mut stream) = (Divisions::new(pool, small), Stream::new(3, 0));
            let mut bits = vec![0; pool.div_ceil(WORD)];
            let all = AllDivisions::count(pool, small, 1000).expect("few");
            for _ in 0..all * 1000 {
                divisions.draw(&mut stream, &mut bits);
                *counts.entry(bits.clone()).or_default() += 1;
            }
            assert_eq!(counts.len() as u64, all);
            let squares: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
            // Chi-squared: its mean is the degrees of freedom, twice those its variance.
            let freedom = (all - 1) as f64;
            assert!((squares - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{pool} {small}: {squares}");
        }
    }

    #[test]
    fn every_value_is_as_likely_whatever_the_sizes() {
        for (pool, small) in [(64, 32), (100, 30), (129, 64), (500, 7), (1000, 499), (5000, 100)] {
            let (divisions, mut stream) = (Divisions::new(pool, small), Stream::new(4, 1));
            let (mut bits, mut counts) = (vec![0; pool.div_ceil(WORD)], vec![0_u32; pool]);
            let draws = 20_000;
            for _ in 0..draws {
                divisions.draw(&mut stream, &mut bits);
                assert_eq!(ones(&bits), small);
                for (place, count) in counts.iter_mut().enumerate() {
                    *count += u32::from((bits[place / WORD] >> (place % WORD)) & 1 == 1);
                }
            }
            let share = small as f64 / pool as f64;
            let spread = (f64::from(draws) * share * (1.0 - share)).sqrt();
            let furthest = counts.iter().map(|&count| (f64::from(count) - f64::from(draws) * share).abs());
            assert!(furthest.fold(0.0, f64::max) < 5.5 * spread, "{pool} {small}");
        }
    }

    #[test]
    fn all_divisions_come_once() {
        for (pool, small) in [(1_usize, 0), (5, 2), (6, 3), (66, 2), (130, 1)] {
            let mut bits = vec![0; pool.div_ceil(WORD)];
            let mut all = AllDivisions::start(pool, small, &mut bits);
            let count = AllDivisions::count(pool, small, u64::MAX).expect("few");
            let mut seen = std::collections::HashSet::new();
            for _ in 0..count {
                assert!(ones(&bits) == small && seen.insert(bits.clone()));
                all.advance(&mut bits);
            }
        }
        assert_eq!(AllDivisions::count(20, 10, 184_756), Some(184_756));
        assert_eq!(AllDivisions::count(20, 10, 184_755), None);
        assert_eq!(AllDivisions::count(200_000_000, 100_000_000, u64::MAX), None);
    }
}
