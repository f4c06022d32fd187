//! Statistics: descriptions of samples, intervals, comparisons of two sides, and steady states of series.
//!
//! A folder for each question; each uses those above it:
//!
//! - [`samples`] reads numbers in place: checks, sums, order statistics, sorting. It holds what all others share:
//!   [`samples::distributions`], [`samples::random`] numbers, and [`samples::dependence`] of a sample on those before it.
//! - [`intervals`]: how sure a median or a mean is, in closed form or by [`intervals::bootstrap`].
//! - [`describe`]: quantiles, outliers and modes.
//! - [`compare`]: [`compare::hypotheses`] that two sides differ, and [`compare::decisions`] from two sides to a verdict.
//! - [`series`]: where a series changes and where it settles.
//! - [`growth`]: how time follows a size.
//!
//! Long calls ask `interrupted` at least some times a second, and end with [`crate::error::Error::Interrupted`] once it says
//! so.

pub mod compare;
pub mod describe;
pub mod growth;
pub mod intervals;
pub mod samples;
pub mod series;
