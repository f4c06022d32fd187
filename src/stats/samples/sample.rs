//! What a sample may be: any of the number types that a caller holds, read in place without a copy.

/// A number that converts to `f64`; integers beyond 2^53 are rounded to the nearest one.
pub trait Sample: Copy + Send + Sync {
    /// The value as a 64-bit float.
    fn value(self) -> f64;
}

macro_rules! samples {
    ($($number:ty),*) => {
        $(impl Sample for $number {
            #[inline]
            #[allow(clippy::cast_lossless, reason = "one body for every type, lossless or not")]
            fn value(self) -> f64 {
                self as f64
            }
        })*
    };
}

samples!(f64, f32, i64, i32, u64, u32);
