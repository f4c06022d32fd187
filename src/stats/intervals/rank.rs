//! The distribution-free interval of a median: two order statistics.

use statrs::function::gamma::ln_gamma;

/// Ranks `(low, high)`, counted from 0, of the order statistics that enclose the median with at least `level` confidence.
///
/// With independent samples, the number of them below the true median is binomial(n, 1/2); the ranks are the narrowest
/// symmetric pair whose coverage is not below `level` (David and Nagaraja, *Order Statistics*, 3rd ed., section 7.1).
/// `None` where even the extremes do not reach it: below 6 samples at 95 %.
pub fn median_rank_interval(n: usize, level: f64) -> Option<(usize, usize)> {
    let tail = (1.0 - level) / 2.0;
    // The largest k with P(X <= k) <= tail; the interval is then from the (k+1)-th to the (n-k)-th smallest.
    let k = largest_below(n, tail)?;
    Some((k, n - 1 - k))
}

/// The largest k with P(binomial(n, 1/2) ≤ k) ≤ `tail`, if there is one.
fn largest_below(n: usize, tail: f64) -> Option<usize> {
    // From where the probabilities no longer matter up to the answer: a few square roots of n terms.
    let spread = (n as f64).sqrt() / 2.0;
    let start = (n as f64 / 2.0 - 12.0 * spread).floor().max(0.0) as usize;
    let mut term = probability(n, start);
    let mut below = 0.0;
    let mut answer = None;
    for k in start..n {
        below += term;
        // The sum of a few terms may end a rounding error above a tail that it equals: 1/4 for two samples at 50 %.
        if below > tail * (1.0 + 1e-12) {
            break;
        }
        answer = Some(k);
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    answer
}

/// P(binomial(n, 1/2) = k).
fn probability(n: usize, k: usize) -> f64 {
    let ln_factorial = |m: usize| ln_gamma(m as f64 + 1.0);
    (ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) - n as f64 * std::f64::consts::LN_2).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_follow_the_normal_law() {
        let n = 10_000_000_usize;
        let (low, high) = median_rank_interval(n, 0.95).expect("n is large");
        let expected = n as f64 / 2.0 - 1.959_964 * (n as f64).sqrt() / 2.0;
        assert!((low as f64 - expected).abs() < 2.0, "{low} against {expected}");
        assert_eq!(low + high, n - 1);
    }
}
