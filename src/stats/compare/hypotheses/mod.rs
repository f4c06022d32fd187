//! Tests and estimates of the difference between two sides.

mod anytime;
mod benjamini_hochberg;
mod geometric;
mod hodges_lehmann;
mod mann_whitney;
mod permutation;
mod permutation_divisions;
mod permutation_statistic;
mod ranks;
mod welch;

pub use benjamini_hochberg::{BenjaminiHochberg, benjamini_hochberg};
pub(crate) use geometric::logarithms;
pub use geometric::{GeometricMean, geometric_mean_ratio};
pub use hodges_lehmann::{HodgesLehmann, hodges_lehmann};
pub use mann_whitney::{MannWhitney, RankMethod, mann_whitney};
pub use permutation::{PermutationTest, permutation_test};
pub use ranks::cliffs_delta;
pub(crate) use welch::MeanDifference;
pub use welch::{Design, StandardError};
pub use welch::{Welch, welch};

pub use crate::stats::samples::Statistic;
