//! Between which order statistics the end of a median's interval lies.

use statrs::function::gamma::ln_gamma;

/// Where the lower end stands among `n` independent samples in order, counted from 0; the upper one stands as far from the end.
///
/// The interval of the k-th smallest and k-th largest sample has a confidence that the binomial law gives exactly; between the
/// two k whose confidences enclose `level`, Hettmansperger and Sheather (*Confidence intervals based on interpolated order
/// statistics*, Statistics and Probability Letters 4, 1986) interpolate so that it is nearly exact for many distributions.
///
/// `n` need not be whole: the tail sums of the binomial law are incomplete beta functions, which go on between whole numbers,
/// and the recursion of their terms is the same. `None` where even the extremes do not reach `level`.
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
    fn large_counts_follow_the_normal_law() {
        let n = 1e8;
        let place = lower_end(n, 0.95).expect("n is large");
        assert!((place - (n / 2.0 - 0.5 - 1.959_963_985 * 1e4 / 2.0)).abs() < 0.1, "{place}");
    }
}
