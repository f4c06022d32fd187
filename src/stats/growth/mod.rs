//! How time grows with a size: the exponent of a power law, how sure it is, and whether there is one.

mod line;
mod power_law;

pub use power_law::{Growth, GrowthMethod, growth};
