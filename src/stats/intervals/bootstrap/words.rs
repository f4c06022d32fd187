//! The names of statistics and methods.

use crate::error::{Error, Result};

/// What is computed from each resample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The median: of an even number of samples, the mean of the two in the middle.
    Median,
}

impl Statistic {
    const ALL: [Self; 2] = [Self::Mean, Self::Median];

    /// The statistic called `name`.
    ///
    /// # Errors
    /// None is called so.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|statistic| statistic.name() == name);
        found.ok_or_else(|| unknown("statistic", name, &Self::ALL.map(Self::name).join(", ")))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
        }
    }
}

/// How the interval is made of the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Quantiles of the resampled statistics.
    Percentile,
    /// Quantiles at levels corrected for bias and skewness.
    Bca,
    /// Quantiles of the law that the resampled medians have, without resampling.
    Exact,
    /// Resamples of blocks of neighbours.
    Block,
    /// Resamples of processes, then of their samples.
    Hierarchical,
}

impl Method {
    const ALL: [Self; 5] = [Self::Percentile, Self::Bca, Self::Exact, Self::Block, Self::Hierarchical];

    /// The method called `name`.
    ///
    /// # Errors
    /// None is called so.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| unknown("method", name, &Self::ALL.map(Self::name).join(", ")))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Percentile => "percentile",
            Self::Bca => "bca",
            Self::Exact => "exact",
            Self::Block => "block",
            Self::Hierarchical => "hierarchical",
        }
    }
}

/// That an argument is none of the `known` words.
pub(super) fn unknown(argument: &'static str, name: &str, known: &str) -> Error {
    Error::UnknownName { argument, name: name.to_owned(), known: known.to_owned() }
}
