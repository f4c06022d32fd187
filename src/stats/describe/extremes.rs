//! The smallest and the largest sample, where squares may overflow that `Moments` would need.

use crate::error::{Error, Result};
use crate::simd::{Kernel, vectorised};
use crate::stats::samples::{BLOCK, Sample, check};

/// Read in a few milliseconds, between which the caller is asked.
pub(super) const PART: usize = 1 << 22;
/// Independent accumulators: four of the widest vectors.
const LANES: usize = 32;

/// The smallest and the largest of `samples`; refuses none at all, and a NaN or an infinity by position.
pub(super) fn extremes<T: Sample>(samples: &[T], interrupted: &dyn Fn() -> bool) -> Result<(f64, f64)> {
    const ARGUMENT: &str = "samples";
    if samples.is_empty() {
        return Err(Error::Empty { argument: ARGUMENT });
    }
    let mut all = (f64::INFINITY, f64::NEG_INFINITY);
    for (part, values) in samples.chunks(PART).enumerate() {
        check(interrupted)?;
        let (low, high) = vectorised(Scan(values)).map_err(|(place, value)| Error::NotFinite {
            argument: ARGUMENT,
            position: part * PART + place,
            value,
        })?;
        all = (all.0.min(low), all.1.max(high));
    }
    Ok(all)
}

/// Smallest and largest, or the first that is not finite and its position.
struct Scan<'a, T>(&'a [T]);

#[allow(clippy::inline_always, reason = "it is to be compiled into what calls it")]
impl<T: Sample> Kernel for Scan<'_, T> {
    type Output = std::result::Result<(f64, f64), (usize, f64)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let mut place = T::Place::default();
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        for (number, block) in self.0.chunks(BLOCK).enumerate() {
            let block = T::still(block, &mut place);
            let (groups, rest) = block.as_chunks::<LANES>();
            let mut poison = [0.0; LANES];
            for group in groups {
                for lane in 0..LANES {
                    let value = group[lane].value();
                    // Not `f64::min`, whose care for NaN costs an instruction.
                    low[lane] = if value < low[lane] { value } else { low[lane] };
                    high[lane] = if value > high[lane] { value } else { high[lane] };
                    // Nothing for what is finite, NaN for ever after for anything else.
                    poison[lane] += value * 0.0;
                }
            }
            for (lane, value) in rest.iter().map(Sample::value).enumerate() {
                low[lane] = if value < low[lane] { value } else { low[lane] };
                high[lane] = if value > high[lane] { value } else { high[lane] };
                poison[lane] += value * 0.0;
            }
            if poison.iter().fold(false, |any, lane| any | lane.is_nan()) {
                let mut values = block.iter().map(Sample::value).enumerate();
                if let Some((position, value)) = values.find(|(_, value)| !value.is_finite()) {
                    return Err((number * BLOCK + position, value));
                }
            }
        }
        Ok((low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_both_wherever_they_stand() {
        for n in [1, 2, LANES, LANES + 1, 5 * LANES + 3] {
            for place in 0..n {
                let mut values = vec![1.0; n];
                values[place] = -2.5;
                assert_eq!(extremes(&values, &|| false), Ok((-2.5, if n == 1 { -2.5 } else { 1.0 })));
                values[place] = f64::NEG_INFINITY;
                let message = extremes(&values, &|| false).expect_err("infinite").to_string();
                assert_eq!(message, format!("samples[{place}] is -inf; every value must be finite"));
            }
        }
    }

    #[test]
    fn none_are_refused_and_long_ones_can_be_broken_off() {
        assert_eq!(extremes::<u64>(&[], &|| false), Err(Error::Empty { argument: "samples" }));
        assert_eq!(extremes(&[1_u64], &|| true), Err(Error::Interrupted));
    }
}
