//! Many tests at once: which of them to believe.

use crate::error::Result;
use crate::memory;
use crate::results::result;
use crate::stats::samples::{check, inside_0_and_1, probabilities, sorted};

/// Looked up in a few milliseconds, between which the caller is asked.
const PART: usize = 1 << 16;

result! {
    /// Result of `benjamini_hochberg`; its lists are in the order of the p-values.
    pub struct BenjaminiHochberg {
        /// The smallest rate at which each hypothesis would be rejected, from 0 to 1.
        pub adjusted: Vec<f64>,
        /// For each hypothesis, true if it is rejected at `rate`.
        pub rejected: Vec<bool>,
        /// The largest p-value that is rejected; None where none is.
        pub threshold: Option<f64>,
        /// The false-discovery rate that was allowed.
        pub rate: f64,
    }
}

/// Rejects as many hypotheses as may be if, on average, at most `rate` of the rejected ones are to be true (Benjamini and
/// Hochberg, *Controlling the false discovery rate*, Journal of the Royal Statistical Society B 57, 1995).
///
/// No p-values give no answers: a table without rows is a table.
///
/// # Errors
/// A p-value outside [0, 1], by position; a rate outside (0, 1); an interruption.
pub fn benjamini_hochberg(p_values: &[f64], rate: f64, interrupted: &dyn Fn() -> bool) -> Result<BenjaminiHochberg> {
    probabilities("p_values", p_values)?;
    inside_0_and_1("rate", rate)?;
    let ordered = sorted(memory::copied(p_values), interrupted)?;
    let n = ordered.len();
    let mut by_rank = memory::copied(&ordered);
    let mut smallest = 1.0_f64;
    for (rank, adjusted) in by_rank.iter_mut().enumerate().rev() {
        smallest = smallest.min(*adjusted * (n as f64 / (rank + 1) as f64));
        *adjusted = smallest;
    }
    let believed = by_rank.partition_point(|&adjusted| adjusted <= rate);
    let threshold = believed.checked_sub(1).map(|last| ordered[last]);

    let mut adjusted = memory::list(n);
    for part in p_values.chunks(PART) {
        check(interrupted)?;
        // Equal p-values share what the last of them gets, so that any of their ranks will do.
        adjusted.extend(part.iter().map(|p| by_rank[ordered.partition_point(|other| other < p)]));
    }
    let rejected = memory::collected(adjusted.iter().map(|&adjusted| adjusted <= rate));
    Ok(BenjaminiHochberg { adjusted, rejected, threshold, rate })
}
