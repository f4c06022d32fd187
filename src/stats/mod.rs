//! Statistics: what samples look like, how sure a number is, whether two sides differ, and when a series settles.
//!
//! Every folder has one of these questions; what one uses stands above it:
//!
//! - [`samples`] reads numbers in place: checks, sums, order statistics, sorting.
//! - [`distributions`] has the laws that intervals and tests follow, [`random`] the numbers that resampling draws.
//! - [`dependence`] tells how samples of one process follow from those before them.
//! - [`intervals`] says how sure a median or a mean is, [`description`] what samples look like.
//! - [`bootstrap`] does the first by resampling; [`hypotheses`] tests whether two sides differ, and by how much.
//! - [`decisions`] turns two sides into a word, [`series`] finds where a series changes and settles, [`growth`] how time
//!   follows a size.
//!
//! Long calls ask `interrupted` at least some times a second, and end with [`crate::error::Error::Interrupted`] once it says
//! so.

pub mod bootstrap;
pub mod decisions;
pub mod dependence;
pub mod description;
pub mod distributions;
pub mod growth;
pub mod hypotheses;
pub mod intervals;
pub mod random;
pub mod samples;
pub mod series;
