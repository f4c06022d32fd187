//! Loops over numbers, compiled once for each set of vector instructions.
#![allow(unsafe_code, reason = "calls of functions for processors that have been asked")]

/// A loop that the compiler can vectorize. It is not a closure, because it must be compiled into its caller.
pub(crate) trait Kernel {
    /// Result, the same on every processor: no order of additions may be left to the compiler.
    type Output;

    /// Runs the loop. Mark it, and the functions that it calls, `inline(always)`.
    fn run(self) -> Self::Output;
}

/// Runs `kernel` with the widest vectors that this processor has.
pub(crate) fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx512() {
            // SAFETY: each of the features was detected.
            return unsafe { x86::with_avx512(kernel) };
        }
        if x86::has_avx2() {
            // SAFETY: the same.
            return unsafe { x86::with_avx2(kernel) };
        }
    }
    kernel.run()
}

/// Runs `kernel` with every instruction set that this processor has, each with its name: all results must be equal.
#[cfg(test)]
pub(crate) fn on_every_path<K: Kernel + Clone>(kernel: &K) -> Vec<(&'static str, K::Output)> {
    let mut found = vec![("portable", kernel.clone().run()), ("chosen", vectorised(kernel.clone()))];
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx2() {
            // SAFETY: each of the features was detected.
            found.push(("AVX2", unsafe { x86::with_avx2(kernel.clone()) }));
        }
        if x86::has_avx512() {
            // SAFETY: the same.
            found.push(("AVX-512", unsafe { x86::with_avx512(kernel.clone()) }));
        }
    }
    found
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Kernel;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
    pub(super) fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run()
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run()
    }

    pub(super) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
    }

    pub(super) fn has_avx512() -> bool {
        has_avx2()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("fma")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of products, which a fused multiplication would round differently.
    #[derive(Clone)]
    struct Products<'a>(&'a [f64]);

    impl Kernel for Products<'_> {
        type Output = u64;

        #[allow(clippy::inline_always, reason = "compiled with each set of instructions, without optimisation too")]
        #[inline(always)]
        fn run(self) -> u64 {
            let mut lanes = [0.1; 8];
            for group in self.0.as_chunks::<8>().0 {
                for (lane, value) in lanes.iter_mut().zip(group) {
                    *lane += value * value;
                }
            }
            lanes.iter().sum::<f64>().to_bits()
        }
    }

    #[test]
    fn no_path_fuses_multiplication_and_addition() {
        let values: Vec<f64> = (1..4000).map(|i| 1.0 / f64::from(i)).collect();
        let found = on_every_path(&Products(&values));
        assert!(found.iter().all(|(_, bits)| *bits == found[0].1), "{found:?}");
    }
}
