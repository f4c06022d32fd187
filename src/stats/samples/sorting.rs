//! Sorting that can be broken off, and that takes nearly as long for one order of the values as for any other.
//!
//! Floats are sorted as whole numbers in the same order: large inputs are parted by their highest bits until a part fits
//! into a cache, and that is sorted digit by digit from the lowest on (Knuth, *The Art of Computer Programming*, volume 3,
//! section 5.2.5).

use super::{check, from_key, to_key};
use crate::error::Result;

/// Below this many values comparisons are quicker.
const COMPARE_BELOW: usize = 192;
/// So many values, and room to move them to, fit into a second-level cache of 1 MiB.
const FITS: usize = 1 << 15;
/// Digits of 8 bits, as many places to write to as the caches keep open; four of them tell nearly all values apart.
const DIGITS: usize = 4;
const PLACES: usize = 256;
/// Bits by which large inputs are parted: two rounds bring ten million values into a cache.
const PARTING: u32 = 9;
/// Some milliseconds of work, between which the caller is asked.
const PIECE: usize = 1 << 20;

/// `values` in ascending order (that of [`f64::total_cmp`]).
///
/// # Errors
/// [`crate::error::Error::Interrupted`], if `interrupted` says so.
pub fn sorted(mut values: Vec<f64>, interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    let mut keys: Vec<u64> = values.iter().copied().map(to_key).collect();
    let mut room = if keys.len() < COMPARE_BELOW { Vec::new() } else { vec![0; keys.len()] };
    sort_keys(&mut keys, &mut room, interrupted)?;
    for (value, key) in values.iter_mut().zip(keys) {
        *value = from_key(key);
    }
    Ok(values)
}

/// `keys` in ascending order; `room` is as long, or of any length below [`COMPARE_BELOW`] keys.
///
/// # Errors
/// [`crate::error::Error::Interrupted`], if `interrupted` says so.
pub(crate) fn sort_keys(keys: &mut [u64], room: &mut [u64], interrupted: &dyn Fn() -> bool) -> Result<()> {
    check(interrupted)?;
    if keys.len() <= FITS {
        by_digits(keys, room);
        return Ok(());
    }
    let (min, max) = keys.iter().fold((u64::MAX, 0), |(min, max), &key| (min.min(key), max.max(key)));
    // Each round sees the highest bits that differ, so that it parts whatever is not all the same.
    let shift = (u64::BITS - (max - min).leading_zeros()).saturating_sub(PARTING);
    let part_of = |key: u64| ((key - min) >> shift) as usize;
    let mut ends = vec![0; part_of(max) + 1];
    for piece in keys.chunks(PIECE) {
        check(interrupted)?;
        for &key in piece {
            ends[part_of(key)] += 1;
        }
    }
    starts(&mut ends);
    for piece in keys.chunks(PIECE) {
        check(interrupted)?;
        scatter(piece, room, &mut ends, part_of);
    }
    keys.copy_from_slice(room);
    if shift == 0 {
        return Ok(());
    }
    let mut start = 0;
    for end in ends {
        sort_keys(&mut keys[start..end], &mut room[start..end], interrupted)?;
        start = end;
    }
    Ok(())
}

/// What fits into a cache: by the first 32 bits in which keys differ, from the lowest digit of them on, since each round keeps
/// the order of the one before among equals; what these leave together, if anything, is sorted by what follows.
fn by_digits(keys: &mut [u64], room: &mut [u64]) {
    if keys.len() < COMPARE_BELOW {
        keys.sort_unstable();
        return;
    }
    let (min, max) = keys.iter().fold((u64::MAX, 0), |(min, max), &key| (min.min(key), max.max(key)));
    let shift = (u64::BITS - (max - min).leading_zeros()).saturating_sub(8 * DIGITS as u32);
    let digits = |key: u64| (((key - min) >> shift) as u32).to_le_bytes();
    let mut counts = [[0_usize; PLACES]; DIGITS];
    for &key in &*keys {
        for (counts, digit) in counts.iter_mut().zip(digits(key)) {
            counts[usize::from(digit)] += 1;
        }
    }
    let (mut from, mut to) = (&mut *keys, &mut *room);
    let mut rounds = 0;
    for (place, counts) in counts.iter_mut().enumerate() {
        // A digit that all share moves nothing.
        if counts.contains(&from.len()) {
            continue;
        }
        starts(counts);
        scatter(from, to, counts, |key| usize::from(digits(key)[place]));
        std::mem::swap(&mut from, &mut to);
        rounds += 1;
    }
    if rounds % 2 == 1 {
        to.copy_from_slice(from);
    }
    if shift == 0 {
        return;
    }
    let mut start = 0;
    for group in keys.chunk_by_mut(|one, other| (one - min) >> shift == (other - min) >> shift) {
        let end = start + group.len();
        if group.len() > 1 {
            by_digits(group, &mut room[start..end]);
        }
        start = end;
    }
}

/// Turns counts into where each part begins.
fn starts(counts: &mut [usize]) {
    let mut before = 0;
    for count in counts {
        before += std::mem::replace(count, before);
    }
}

/// Moves every key to its part, whose start becomes the place of the next one, at last the part's end.
#[inline]
fn scatter(keys: &[u64], room: &mut [u64], starts: &mut [usize], part_of: impl Fn(u64) -> usize) {
    for &key in keys {
        let next = &mut starts[part_of(key)];
        room[*next] = key;
        *next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::stats::samples::random::Stream;

    fn agrees(values: Vec<f64>) {
        let mut expected = values.clone();
        expected.sort_unstable_by(f64::total_cmp);
        let found = sorted(values, &|| false).expect("nobody interrupts");
        let same = found.iter().zip(&expected).all(|(one, other)| one.to_bits() == other.to_bits());
        assert!(same && found.len() == expected.len(), "n = {}", expected.len());
    }

    #[test]
    fn agrees_with_comparisons() {
        let mut stream = Stream::new(3, 0);
        for n in [0, 1, COMPARE_BELOW - 1, COMPARE_BELOW, FITS + 1, PIECE + 1] {
            agrees((0..n).map(|_| stream.unit()).collect());
            agrees((0..n).map(|_| (stream.unit() * 10.0).floor() - 5.0).collect());
        }
        // Every pattern of bits, with infinities, zeros of both signs and values too small to be normal among them.
        agrees((0..50_000).map(|_| f64::from_bits(stream.bits())).collect());
        let awkward = [0.0, -0.0, f64::MIN, f64::MAX, 5e-324, -5e-324, f64::INFINITY, f64::NEG_INFINITY, 1.0];
        agrees((0..10_000).map(|i| awkward[i * 7 % awkward.len()]).collect());
        agrees(vec![7.0; 5000]);
        // One far away, and all others differ in their last digits only.
        let scrambled = |i: usize| (i.wrapping_mul(2_654_435_761) % 1_000_003) as f64;
        agrees((0..30_000).map(|i| if i == 9 { f64::MIN } else { 1.0 + scrambled(i) * f64::EPSILON }).collect());
    }

    #[test]
    fn can_be_broken_off() {
        assert_eq!(sorted(vec![2.0, 1.0], &|| true), Err(Error::Interrupted));
    }
}
