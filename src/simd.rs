//! The one place of vector code. What a processor can do is asked when the program runs; the portable path stays.
#![allow(unsafe_code, reason = "intrinsics that load vectors, and calls of functions for processors that have them")]

/// Bytes that are looked at together.
pub(crate) const BLOCK: usize = 64;

/// Which bytes of a block are what, the first in the lowest bit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `"`
    pub(crate) quotes: u64,
    /// `\`
    pub(crate) backslashes: u64,
    /// `{`
    pub(crate) opens: u64,
    /// `}`
    pub(crate) closes: u64,
    /// Below a space.
    pub(crate) controls: u64,
    /// What may follow a string: `,` `:` `}` `]`, a space and all below.
    pub(crate) ends: u64,
}

/// Appends the masks of all whole blocks of `text`, and of the rest as if spaces followed.
pub(crate) fn classify(text: &[u8], masks: &mut Vec<Masks>) {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    classify_blocks(blocks, masks);
    if !rest.is_empty() {
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        classify_blocks(&[last], masks);
    }
}

#[cfg(target_arch = "x86_64")]
fn classify_blocks(blocks: &[[u8; BLOCK]], masks: &mut Vec<Masks>) {
    if is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has been asked.
        unsafe { x86::with_avx512(blocks, masks) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has been asked.
        unsafe { x86::with_avx2(blocks, masks) }
    } else {
        portable(blocks, masks);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn classify_blocks(blocks: &[[u8; BLOCK]], masks: &mut Vec<Masks>) {
    portable(blocks, masks);
}

/// Eight bytes at a time, in ordinary registers.
fn portable(blocks: &[[u8; BLOCK]], masks: &mut Vec<Masks>) {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The top bit of each byte, side by side.
    let gather = |tops: u64| ((tops >> 7) & LOW).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    // The carry of the sum never leaves a byte, so each is told for itself.
    let zeros = |word: u64| !(((word & !HIGH) + !HIGH) | word) & HIGH;
    masks.extend(blocks.iter().map(|block| {
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
        found
    }));
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_set1_epi8, _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask, _mm512_loadu_si512, _mm512_set1_epi8,
    };

    use super::{BLOCK, Masks};

    #[target_feature(enable = "avx2")]
    pub(super) fn with_avx2(blocks: &[[u8; BLOCK]], masks: &mut Vec<Masks>) {
        for block in blocks {
            // SAFETY: a block has room for two loads of 32 bytes, which need no alignment.
            let (low, high) = unsafe {
                let start = block.as_ptr();
                (_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast()))
            };
            let closes = equal(low, high, b'}');
            let controls = join(below_space(low), below_space(high));
            let others = equal(low, high, b' ') | equal(low, high, b',') | equal(low, high, b':');
            masks.push(Masks {
                quotes: equal(low, high, b'"'),
                backslashes: equal(low, high, b'\\'),
                opens: equal(low, high, b'{'),
                closes,
                controls,
                ends: closes | controls | others | equal(low, high, b']'),
            });
        }
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

    #[target_feature(enable = "avx512bw")]
    pub(super) fn with_avx512(blocks: &[[u8; BLOCK]], masks: &mut Vec<Masks>) {
        for block in blocks {
            // SAFETY: a block has room for a load of 64 bytes, which needs no alignment.
            let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
            let closes = equal_512(bytes, b'}');
            let to_space = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(b' '.cast_signed()));
            masks.push(Masks {
                quotes: equal_512(bytes, b'"'),
                backslashes: equal_512(bytes, b'\\'),
                opens: equal_512(bytes, b'{'),
                closes,
                controls: to_space & !equal_512(bytes, b' '),
                ends: closes | to_space | equal_512(bytes, b',') | equal_512(bytes, b':') | equal_512(bytes, b']'),
            });
        }
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

    fn plain(text: &[u8]) -> Vec<Masks> {
        text.chunks(BLOCK)
            .map(|block| {
                let mask = |is: fn(u8) -> bool| {
                    block.iter().enumerate().fold(0, |mask, (place, &byte)| mask | u64::from(is(byte)) << place)
                };
                Masks {
                    quotes: mask(|byte| byte == b'"'),
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
            let mut found = Vec::new();
            classify(&text, &mut found);
            prop_assert_eq!(&found, &plain(&text));
            let (blocks, _) = text.as_chunks::<BLOCK>();
            let expected = &plain(&text)[..blocks.len()];
            let mut found = Vec::new();
            portable(blocks, &mut found);
            prop_assert_eq!(&found, expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                found.clear();
                // SAFETY: the processor has been asked.
                unsafe { x86::with_avx2(blocks, &mut found) };
                prop_assert_eq!(&found, expected);
            }
        }
    }
}
