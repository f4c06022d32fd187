//! Probability of each rank to be the k-th smallest of n draws.

use crate::memory;

/// Nodes in (0, 1] and weights of the Gauss-Legendre rule with 8 nodes on [−1, 1], whose other half is the mirror image.
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_3),
];

/// P(k-th smallest of n draws has the rank i) for each of `ranks`, which carry all of the probability that there is.
///
/// It is the integral of the beta density from i/n to (i + 1)/n, which the rule gives exactly where the density is a polynomial of
/// degree 15 at most, and to rounding beyond, since one rank is then a small part of the density's width. The sum is set to 1, which
/// spares the constant of the density.
pub(super) fn masses(n: usize, k: usize, ranks: impl Iterator<Item = usize>) -> Vec<f64> {
    let (below, above) = ((k - 1) as f64, (n - k) as f64);
    // Relative to the middle, where logarithms are small.
    let density = |apart: f64| (below * (2.0 * apart).ln_1p() + above * (-2.0 * apart).ln_1p()).exp();
    let width = 1.0 / n as f64;
    let mass = |rank: usize| {
        let centre = (rank as f64 + 0.5 - n as f64 / 2.0) * width;
        let at = |(node, weight): (f64, f64)| {
            let step = node * width / 2.0;
            weight * (density(centre - step) + density(centre + step))
        };
        RULE.into_iter().map(at).sum::<f64>()
    };
    let masses: Vec<f64> = memory::collected(ranks.map(mass));
    let total = masses.iter().sum::<f64>();
    memory::collected(masses.into_iter().map(|mass| mass / total))
}
