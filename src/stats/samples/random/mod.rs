//! Random numbers that depend on a seed and a place, never on who draws them.
//!
//! Work that is shared out over threads draws from one stream a job, so that the same seed gives the same numbers whatever
//! the number of threads.

mod positions;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub use positions::Positions;

/// A sequence of random numbers: `xoshiro256++` (Blackman and Vigna, 2021), seeded by a seed and the number of the stream.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream `number` of `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        // Seeds that differ in a bit, and neighbouring streams of one seed, are to have nothing in common: the state is
        // filled from a counter, so that what it starts at must be far apart for each.
        Self(Xoshiro256PlusPlus::seed_from_u64(start(seed, number)))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, each as likely as any other to within `n` in 2⁶⁴.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A float in [0, 1), a multiple of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// Returns the start of a stream.
fn start(seed: u64, number: u64) -> u64 {
    mix(mix(seed) ^ mix(!number))
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014): every bit of the result depends on every bit of `x`.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_nothing_in_common() {
        let mut seen = std::collections::HashSet::new();
        for seed in [0, 1, 2, u64::MAX] {
            for number in 0..100 {
                let mut stream = Stream::new(seed, number);
                assert!((0..100).all(|_| seen.insert(stream.bits())), "seed {seed}, stream {number}");
            }
        }
    }

    #[test]
    fn is_uniform() {
        let mut stream = Stream::new(7, 0);
        let mut counts = [0_u32; 10];
        let draws = 100_000;
        (0..draws).for_each(|_| counts[stream.below(10)] += 1);
        // Five standard deviations of a binomial count.
        assert!(counts.iter().all(|&count| (f64::from(count) - 10_000.0).abs() < 475.0), "{counts:?}");
        let mean = (0..draws).map(|_| stream.unit()).sum::<f64>() / f64::from(draws);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
