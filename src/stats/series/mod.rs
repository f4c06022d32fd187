//! Changes of a series, and its steady state.

mod candidates;
mod changepoints;
mod levels;
mod logarithm;
mod pelt;
mod points;
mod steady_part;
mod steady_state;
mod warmup;

pub use candidates::Cost;
pub use changepoints::{ChangePoints, changepoints, default_penalty};
pub use pelt::ChangePointOptions;
pub use steady_state::{Classification, Segment, SteadyOptions, SteadyState, steady_state};
pub use warmup::{Warmup, classify_warmup};
