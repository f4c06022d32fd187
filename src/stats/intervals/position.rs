//! Between which order statistics the interval of a median lies.

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
    let mut term = probability(n as f64, start as f64);
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

/// Returns the place of the lower end among `n` independent samples in order, counted from 0; the upper end lies as far from
/// the end.
///
/// The interval of the k-th smallest and k-th largest sample has a confidence that the binomial distribution gives exactly.
/// Between the two k whose confidences enclose `level`, Hettmansperger and Sheather (*Confidence intervals based on
/// interpolated order statistics*, Statistics and Probability Letters 4, 1986) interpolate so that it is nearly exact for many
/// distributions.
///
/// `n` need not be whole: the tail sums of the binomial distribution are incomplete beta functions, which are defined between
/// whole numbers, and the recursion of their terms is the same. `None` if even the extremes do not reach `level`.
pub(super) fn lower_end(n: f64, level: f64) -> Option<f64> {
    let tail = (1.0 - level) / 2.0;
    let middle = (n - 1.0) / 2.0;
    // From where the probabilities no longer matter: a few square roots of n terms up to the answer.
    let mut k = (n / 2.0 - 6.0 * n.sqrt()).floor().max(0.0);
    let (mut below, mut term) = (0.0, probability(n, k));
    // The sum of a few terms may end a rounding error above a tail that it equals: 1/4 for two samples at 50 %.
    while below + term <= tail * (1.0 + 1e-12) && k < middle {
        below += term;
        term *= (n - k) / (k + 1.0);
        k += 1.0;
    }
    // Now P(X < k) ≤ tail < P(X ≤ k) for the number X of samples below the median.
    if k < 1.0 {
        return None;
    }
    let share = ((tail - below) / term).clamp(0.0, 1.0);
    let weight = (n - k) * share / (k + (n - 2.0 * k) * share);
    Some((k - 1.0 + weight).min(middle))
}

/// P(X = k) for a binomial X of `n` trials with probability 1/2.
fn probability(n: f64, k: f64) -> f64 {
    let ln_factorial = |m: f64| ln_gamma(m + 1.0);
    (ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) - n * std::f64::consts::LN_2).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_follow_the_normal_distribution() {
        let expected = |n: f64| n / 2.0 - 1.959_963_985 * n.sqrt() / 2.0;
        let n = 10_000_000;
        let (low, high) = median_rank_interval(n, 0.95).expect("n is large");
        assert!((low as f64 - expected(n as f64)).abs() < 2.0, "{low}");
        assert_eq!(low + high, n - 1);
        let place = lower_end(1e8, 0.95).expect("n is large");
        assert!((place - expected(1e8) + 0.5).abs() < 0.1, "{place}");
    }
}
