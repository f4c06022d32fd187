//! Probability distributions of intervals and tests.

mod fraction;
mod normal;
mod rank_sum;
mod student;

pub use normal::{normal_cdf, normal_quantile, normal_two_sided};
pub use rank_sum::RankSum;
pub use student::{t_half_width, t_quantile, t_two_sided};
