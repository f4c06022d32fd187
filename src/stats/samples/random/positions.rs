//! Many random positions at a time, as vector code.
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for this processor's vectors")]

use super::{mix, start};
use crate::simd::{Kernel, vectorised};

/// Generators side by side; with as many 64-bit words the widest vector register is full.
const LANES: usize = 8;
/// Positions that one step of all generators gives: each word of 64 bits has two halves.
const STEP: usize = 2 * LANES;

/// Positions in a list, many at a time: eight generators of the kind that [`Stream`] is, stepped together.
///
/// How many there are does not depend on the processor, so that the numbers do not either.
#[derive(Debug, Clone)]
pub struct Positions {
    state: [[u64; LANES]; 4],
}

impl Positions {
    /// Up to here a position is made of 32 random bits.
    pub const HALVES_SUFFICE: usize = 1 << 16;
    /// A longer list has positions that 32 bits cannot name.
    pub const MOST: usize = u32::MAX as usize;

    /// The positions `number` of `seed`, which have nothing in common with the streams of that seed.
    pub fn new(seed: u64, number: u64) -> Self {
        // SplitMix64 fills the states, as the authors of the generator advise: another kind of sequence than its own.
        let mut counter = mix(!start(seed, number));
        let mut word = || {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(counter)
        };
        Self { state: std::array::from_fn(|_| std::array::from_fn(|_| word())) }
    }

    /// Fills `positions` with numbers below `n`, which is at most [`Self::MOST`].
    ///
    /// A position is the upper half of a product of random bits with `n` (Lemire, 2019, without his rejection). One is more
    /// likely than another by at most `n` in 2³² up to [`Self::HALVES_SUFFICE`], which is 1 in 65 536 at worst, and by at most
    /// `n` in 2⁶⁴ beyond.
    pub fn fill(&mut self, n: usize, positions: &mut [u32]) {
        if n <= Self::HALVES_SUFFICE {
            vectorised(Halves { generators: self, n: n as u64, positions });
        } else {
            for group in positions.chunks_mut(LANES) {
                let bits = self.step();
                let below = bits.map(|bits| ((u128::from(bits) * n as u128) >> 64) as u32);
                group.copy_from_slice(&below[..group.len()]);
            }
        }
    }

    /// 64 random bits of each generator: xoshiro256++, written so that the lanes become vectors.
    #[inline(always)]
    fn step(&mut self) -> [u64; LANES] {
        let [a, b, c, d] = &mut self.state;
        let mut bits = [0; LANES];
        for lane in 0..LANES {
            bits[lane] = a[lane].wrapping_add(d[lane]).rotate_left(23).wrapping_add(a[lane]);
            let shifted = b[lane] << 17;
            c[lane] ^= a[lane];
            d[lane] ^= b[lane];
            b[lane] ^= c[lane];
            a[lane] ^= d[lane];
            c[lane] ^= shifted;
            d[lane] = d[lane].rotate_left(45);
        }
        bits
    }
}

/// Two positions of each word.
struct Halves<'a> {
    generators: &'a mut Positions,
    n: u64,
    positions: &'a mut [u32],
}

impl Kernel for Halves<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // A copy of its own stays in registers.
        let mut generators = self.generators.clone();
        let (groups, rest) = self.positions.as_chunks_mut::<STEP>();
        for group in groups {
            *group = halves(generators.step(), self.n);
        }
        if !rest.is_empty() {
            rest.copy_from_slice(&halves(generators.step(), self.n)[..rest.len()]);
        }
        *self.generators = generators;
    }
}

#[inline(always)]
fn halves(bits: [u64; LANES], n: u64) -> [u32; STEP] {
    let mut below = [0; STEP];
    for lane in 0..LANES {
        below[lane] = (((bits[lane] & u64::from(u32::MAX)) * n) >> 32) as u32;
    }
    for lane in 0..LANES {
        below[LANES + lane] = (((bits[lane] >> 32) * n) >> 32) as u32;
    }
    below
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn positions_are_those_of_eight_known_generators() {
        let mut positions = Positions::new(3, 5);
        let word = |part: usize, lane: usize| positions.state[part][lane].to_le_bytes();
        let mut reference: Vec<Xoshiro256PlusPlus> = (0..LANES)
            .map(|lane| {
                let state: Vec<u8> = (0..4).flat_map(|part| word(part, lane)).collect();
                Xoshiro256PlusPlus::from_seed(state.try_into().expect("32 bytes"))
            })
            .collect();
        let mut found = [0; 40];
        positions.fill(1000, &mut found);
        for step in found.chunks(STEP) {
            let bits: Vec<u64> = reference.iter_mut().map(Xoshiro256PlusPlus::next_u64).collect();
            let low = bits.iter().map(|bits| ((bits & 0xffff_ffff) * 1000) >> 32);
            let expected = low.chain(bits.iter().map(|bits| ((bits >> 32) * 1000) >> 32));
            assert!(step.iter().map(|&position| u64::from(position)).eq(expected.take(step.len())));
        }
    }

    #[test]
    fn positions_are_the_same_without_vectors() {
        for n in [1, 7, 1000, Positions::HALVES_SUFFICE] {
            let (mut one, mut other) = (Positions::new(1, 2), Positions::new(1, 2));
            let (mut found, mut expected) = ([0; 1001], [0; 1001]);
            one.fill(n, &mut found);
            Halves { generators: &mut other, n: n as u64, positions: &mut expected }.run();
            assert_eq!((found, one.state), (expected, other.state));
            assert!(found.iter().all(|&position| (position as usize) < n));
        }
    }

    #[test]
    fn positions_are_uniform() {
        for n in [10, 1000, Positions::HALVES_SUFFICE, 10 * Positions::HALVES_SUFFICE, Positions::MOST] {
            let mut positions = vec![0; 100_000];
            Positions::new(7, n as u64).fill(n, &mut positions);
            let mut counts = [0_u32; 10];
            for position in positions {
                counts[position as usize * 10 / n] += 1;
            }
            assert!(counts.iter().all(|&count| (f64::from(count) - 10_000.0).abs() < 475.0), "n = {n}: {counts:?}");
        }
    }
}
