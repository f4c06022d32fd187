//! Growth of time with a size: the exponent of a power law, its interval, and the goodness of fit.

mod lack_of_fit;
mod line;
mod power_law;

pub use power_law::{Growth, GrowthMethod, growth};
