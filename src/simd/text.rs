//! Classes of the bytes of a text, sixty-four at a time.
#![allow(unsafe_code, reason = "intrinsics that load vectors, and calls of functions for processors that have them")]

use std::ops::ControlFlow;

/// Number of bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// Bytes of a block by class, the first in the lowest bit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `"`
    pub(crate) quotes: u64,
    /// Bytes with an odd number of quotes up to and including themselves, in this block.
    pub(crate) odd: u64,
    /// `\`
    pub(crate) backslashes: u64,
    /// `{`
    pub(crate) opens: u64,
    /// `}`
    pub(crate) closes: u64,
    /// Below a space.
    pub(crate) controls: u64,
    /// Bytes that may follow a string: `,` `:` `}` `]`, a space and all below.
    pub(crate) ends: u64,
}

/// Takes the masks of one block after another. No closure, because it is to be compiled into the vector code.
pub(crate) trait Visitor {
    /// Reason for the end.
    type Stop;

    /// Takes the masks of the next block. Say `inline(always)` where it matters.
    fn visit(&mut self, masks: Masks) -> ControlFlow<Self::Stop>;
}

/// Shows `visitor` one block after another, the last as if spaces followed, until it breaks off.
pub(crate) fn classify<V: Visitor>(text: &[u8], visitor: &mut V) -> ControlFlow<V::Stop> {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    classify_blocks(blocks, visitor)?;
    if rest.is_empty() {
        return ControlFlow::Continue(());
    }
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    classify_blocks(&[last], visitor)
}

/// Each bit becomes the parity of itself and all below.
pub(crate) fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(target_arch = "x86_64")]
fn classify_blocks<V: Visitor>(blocks: &[[u8; BLOCK]], visitor: &mut V) -> ControlFlow<V::Stop> {
    let counts_bits =
        is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("pclmulqdq");
    if counts_bits && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has been asked.
        unsafe { x86::with_avx512(blocks, visitor) }
    } else if counts_bits && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has been asked.
        unsafe { x86::with_avx2(blocks, visitor) }
    } else {
        portable(blocks, visitor)
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn classify_blocks<V: Visitor>(blocks: &[[u8; BLOCK]], visitor: &mut V) -> ControlFlow<V::Stop> {
    portable(blocks, visitor)
}

/// Eight bytes at a time, in ordinary registers.
fn portable<V: Visitor>(blocks: &[[u8; BLOCK]], visitor: &mut V) -> ControlFlow<V::Stop> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The top bit of each byte, side by side.
    let gather = |tops: u64| ((tops >> 7) & LOW).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    // The carry of the sum never leaves a byte, so each is shown for itself.
    let zeros = |word: u64| !(((word & !HIGH) + !HIGH) | word) & HIGH;
    blocks.iter().try_for_each(|block| {
        let mut found = Masks::default();
        let (words, _) = block.as_chunks::<8>();
        for (place, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let equal = |byte: u8| gather(zeros(word ^ (LOW * u64::from(byte)))) << (8 * place);
            found.quotes |= equal(b'"');
            found.backslashes |= equal(b'\\');
            found.opens |= equal(b'{');
            found.closes |= equal(b'}');
            // Without the top three bits nothing is left.
            let controls = gather(zeros(word & (LOW * 0xe0))) << (8 * place);
            found.controls |= controls;
            found.ends |= controls | equal(b' ') | equal(b',') | equal(b':') | equal(b'}') | equal(b']');
        }
        visitor.visit(Masks { odd: parity(found.quotes), ..found })
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8, _mm512_cmpeq_epi8_mask,
        _mm512_cmple_epu8_mask, _mm512_loadu_si512, _mm512_set1_epi8,
    };

    use super::{BLOCK, ControlFlow, Masks, Visitor};

    // The features for bits are there for the visitor, which is compiled into these.
    #[target_feature(enable = "avx2,bmi1,bmi2,pclmulqdq")]
    pub(super) fn with_avx2<V: Visitor>(blocks: &[[u8; BLOCK]], visitor: &mut V) -> ControlFlow<V::Stop> {
        for block in blocks {
            // SAFETY: a block has room for two loads of 32 bytes, which need no alignment.
            let (low, high) = unsafe {
                let start = block.as_ptr();
                (_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast()))
            };
            let (quotes, closes) = (equal(low, high, b'"'), equal(low, high, b'}'));
            let controls = join(below_space(low), below_space(high));
            let others = equal(low, high, b' ') | equal(low, high, b',') | equal(low, high, b':');
            visitor.visit(Masks {
                quotes,
                odd: parity(quotes),
                backslashes: equal(low, high, b'\\'),
                opens: equal(low, high, b'{'),
                closes,
                controls,
                ends: closes | controls | others | equal(low, high, b']'),
            })?;
        }
        ControlFlow::Continue(())
    }

    /// The carry-less product with all ones.
    #[target_feature(enable = "pclmulqdq")]
    fn parity(bits: u64) -> u64 {
        let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1));
        _mm_cvtsi128_si64(product).cast_unsigned()
    }

    #[target_feature(enable = "avx2")]
    fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        join(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted))
    }

    #[target_feature(enable = "avx2")]
    fn below_space(bytes: __m256i) -> __m256i {
        _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes)
    }

    #[target_feature(enable = "avx2")]
    fn join(low: __m256i, high: __m256i) -> u64 {
        let bits = |mask: i32| u64::from(mask.cast_unsigned());
        bits(_mm256_movemask_epi8(low)) | bits(_mm256_movemask_epi8(high)) << 32
    }

    #[target_feature(enable = "avx512bw,bmi1,bmi2,pclmulqdq")]
    pub(super) fn with_avx512<V: Visitor>(blocks: &[[u8; BLOCK]], visitor: &mut V) -> ControlFlow<V::Stop> {
        for block in blocks {
            // SAFETY: a block has room for a load of 64 bytes, which needs no alignment.
            let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let (quotes, closes) = (equal_512(bytes, b'"'), equal_512(bytes, b'}'));
            let to_space = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(b' '.cast_signed()));
            visitor.visit(Masks {
                quotes,
                odd: parity(quotes),
                backslashes: equal_512(bytes, b'\\'),
                opens: equal_512(bytes, b'{'),
                closes,
                controls: to_space & !equal_512(bytes, b' '),
                ends: closes | to_space | equal_512(bytes, b',') | equal_512(bytes, b':') | equal_512(bytes, b']'),
            })?;
        }
        ControlFlow::Continue(())
    }

    #[target_feature(enable = "avx512bw")]
    fn equal_512(bytes: __m512i, byte: u8) -> u64 {
        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Masks, of no more blocks than that where that is not 0.
    #[derive(Default)]
    struct Found {
        masks: Vec<Masks>,
        most: usize,
    }

    impl Visitor for Found {
        type Stop = ();

        fn visit(&mut self, masks: Masks) -> ControlFlow<()> {
            if self.most > 0 && self.masks.len() == self.most {
                return ControlFlow::Break(());
            }
            self.masks.push(masks);
            ControlFlow::Continue(())
        }
    }

    fn plain(text: &[u8]) -> Vec<Masks> {
        text.chunks(BLOCK)
            .map(|block| {
                let mask = |is: fn(u8) -> bool| {
                    block.iter().enumerate().fold(0, |mask, (place, &byte)| mask | u64::from(is(byte)) << place)
                };
                let mut odd = false;
                let toggled = block.iter().enumerate().fold(0, |mask, (place, &byte)| {
                    odd ^= byte == b'"';
                    mask | u64::from(odd) << place
                });
                // What fills the last block up goes on as it ends.
                let rest = if odd { u64::MAX.checked_shl(block.len() as u32).unwrap_or(0) } else { 0 };
                Masks {
                    quotes: mask(|byte| byte == b'"'),
                    odd: toggled | rest,
                    backslashes: mask(|byte| byte == b'\\'),
                    opens: mask(|byte| byte == b'{'),
                    closes: mask(|byte| byte == b'}'),
                    controls: mask(|byte| byte < b' '),
                    // What fills the last block up counts as spaces.
                    ends: mask(|byte| byte <= b' ' || b",:}]".contains(&byte))
                        | u64::MAX.checked_shl(block.len() as u32).unwrap_or(0),
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_path_agrees_with_the_plain_one(text in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut found = Found::default();
            let _ = classify(&text, &mut found);
            prop_assert_eq!(found.masks, plain(&text));
            let (blocks, _) = text.as_chunks::<BLOCK>();
            let expected = &plain(&text)[..blocks.len()];
            let mut found = Found::default();
            let _ = portable(blocks, &mut found);
            prop_assert_eq!(&found.masks, expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                let mut found = Found::default();
                // SAFETY: the processor has been asked; none has BMI2 without BMI1.
                let _ = unsafe { x86::with_avx2(blocks, &mut found) };
                prop_assert_eq!(&found.masks, expected);
            }
            let broken_off = classify(&text, &mut Found { most: 1, ..Found::default() });
            prop_assert_eq!(broken_off.is_break(), text.len() > BLOCK);
        }
    }
}
