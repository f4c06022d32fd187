//! Number and positions of the modes of samples.
//!
//! The dip of Hartigan and Hartigan is how far the samples are from any distribution with one mode. What is farther than
//! uniform samples come by chance has more of them; the fewest that a distribution must have to stay as near as chance
//! allows are found by the taut string of Davies and Kovac. So there are two modes or more wherever the dip says so.
//!
//! The dip sees two modes in some hundred samples. Where chance explains it, a valley of a density estimate that is deep for
//! so many samples parts two as well.
//!
//! Samples of a clock that ticks pile up on its ticks, which are modes of the samples but not of what was measured. They
//! are spread over their tick first.

mod describe;
mod dip;
mod mvalue;
mod significance;
mod significance_table;
mod steps;
mod taut_string;
mod ticks;
mod valley;

pub use describe::{Modality, Mode, modality};
