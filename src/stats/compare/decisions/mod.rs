//! From two sides to a word, and how many processes that takes.

mod comparison;
mod power;
mod precision;
mod processes;
mod reason;
mod verdict;

pub use comparison::{Comparison, compare_samples};
pub use power::{DetectionPower, Side};
pub use precision::{Precision, PrecisionReason, precision_reached};
pub use processes::{MOST_PROCESSES, RequiredProcesses, detection_power, required_processes};
pub use verdict::Verdict;
