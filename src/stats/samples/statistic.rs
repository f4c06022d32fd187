//! Statistics of samples.

use crate::error::words;

words! {
    /// Statistic of a set of samples.
    pub enum Statistic {
        /// The arithmetic mean.
        Mean = "mean",
        /// The median: of an even number of samples, the mean of the two in the middle.
        Median = "median",
    }
}
