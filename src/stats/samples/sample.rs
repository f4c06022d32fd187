//! Types of samples: the numbers that a caller holds, where they are or copied block by block.

use std::convert::identity;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::simd::load;

/// Number of samples that are read together, a few times each: 8 KiB of `f64`, small compared to a first-level cache, and so
/// few that memory does not become idle meanwhile.
pub(crate) const BLOCK: usize = 1024;

/// A number that converts to `f64`; integers beyond 2^53 are rounded to the nearest one.
pub trait Sample: Send + Sync + Sized {
    /// Samples that no other thread changes.
    type Still: Sample;
    /// Place for a block of them, where they are not still already.
    type Place: Default;

    /// The value as a 64-bit float.
    fn value(&self) -> f64;

    /// Samples as they are now, at most [`BLOCK`] of them.
    fn still<'a>(samples: &'a [Self], place: &'a mut Self::Place) -> &'a [Self::Still];
}

macro_rules! samples {
    ($($number:ty),*) => {
        $(impl Sample for $number {
            type Still = Self;
            type Place = ();

            #[inline]
            #[allow(clippy::cast_lossless, reason = "one body for every type, lossless or not")]
            fn value(&self) -> f64 {
                *self as f64
            }

            #[inline]
            fn still<'a>(samples: &'a [Self], (): &'a mut ()) -> &'a [Self] {
                samples
            }
        })*
    };
}

samples!(f64, f32, i64, i32, u64, u32);

/// Place for a block of samples that others may change.
#[derive(Debug)]
pub struct Block<T>([MaybeUninit<T>; BLOCK]);

impl<T: Copy> Default for Block<T> {
    fn default() -> Self {
        Self([MaybeUninit::uninit(); BLOCK])
    }
}

/// A number that others may change at any time; a float is known by its bits.
macro_rules! changing {
    ($($changing:ty as $number:ty: $value:expr),*) => {
        $(impl Sample for $changing {
            type Still = $number;
            type Place = Block<$number>;

            #[inline]
            fn value(&self) -> f64 {
                $value(self.load(Ordering::Relaxed)).value()
            }

            #[inline]
            fn still<'a>(samples: &'a [Self], place: &'a mut Self::Place) -> &'a [$number] {
                load(samples, &mut place.0[..samples.len()])
            }
        })*
    };
}

changing!(AtomicU64 as f64: f64::from_bits, AtomicI64 as i64: identity::<i64>);
