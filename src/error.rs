//! The one error type of the core. A variant carries the facts; whoever shows it chooses the words around them.

use thiserror::Error;

/// What can go wrong in the core.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A statistic was asked of no samples.
    #[error("{argument} is empty; at least one value is needed")]
    Empty {
        /// The argument's name.
        argument: &'static str,
    },

    /// A sample is NaN or infinite.
    #[error("{argument}[{position}] is {value}; every value must be finite")]
    NotFinite {
        /// The argument's name.
        argument: &'static str,
        /// Where it stands, counted from 0.
        position: usize,
        /// What stands there.
        value: f64,
    },

    /// The values are finite but so far apart that their spread is not.
    #[error("the spread of {argument} overflows a 64-bit float; rescale the values")]
    Overflow {
        /// The argument's name.
        argument: &'static str,
    },

    /// A number lies outside the range that makes sense for it.
    #[error("{argument} is {value}; it must be {expected}")]
    OutOfRange {
        /// The argument's name.
        argument: &'static str,
        /// What was given.
        value: f64,
        /// What would have been accepted.
        expected: &'static str,
    },

    /// More edges were marked than the recorder had room for.
    #[error("{marked} edges were marked, {capacity} fit; make the recorder for as many iterations as the loop runs")]
    RecorderOverrun {
        /// Edges marked.
        marked: usize,
        /// Edges that fit.
        capacity: usize,
    },

    /// An edge or an iteration was asked for that the recorder does not have.
    #[error("{argument} {index} does not exist; the recorder has {available}")]
    NoSuchEdge {
        /// `edge` or `iteration`.
        argument: &'static str,
        /// What was asked for.
        index: usize,
        /// How many there are.
        available: usize,
    },

    /// A text is not a run file.
    #[error("not a run file: {reason}")]
    NotARun {
        /// The JSON reader's word for it, with line and column.
        reason: String,
    },

    /// No output format has this name.
    #[error("no output format is called {name:?}")]
    UnknownFormat {
        /// The name asked for.
        name: String,
    },
}

/// Shorthand for the core's results.
pub type Result<T> = std::result::Result<T, Error>;
