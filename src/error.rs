//! The one error type of the core. A variant carries the facts; whoever shows it chooses the words around them.

use std::ffi::OsStr;

use rustix::io::Errno;
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

    /// A function that takes logarithms, or divides, was given something that is not above 0.
    #[error("{argument}[{position}] is {value}; every value must be above 0")]
    NotPositive {
        /// The argument's name.
        argument: &'static str,
        /// Where it stands, counted from 0.
        position: usize,
        /// What stands there.
        value: f64,
    },

    /// There are values, but not enough of them.
    #[error("{argument} has {found} {}; at least {needed} are needed", if *found == 1 { "value" } else { "values" })]
    TooFew {
        /// The argument's name.
        argument: &'static str,
        /// How many there must be.
        needed: usize,
        /// How many there are.
        found: usize,
    },

    /// Two arguments must have the same length.
    #[error("{argument} has {found} values, {other} has {expected}; they must have equally many")]
    UnequalLengths {
        /// The argument's name.
        argument: &'static str,
        /// Its length.
        found: usize,
        /// The name of the one it is held against.
        other: &'static str,
        /// That one's length.
        expected: usize,
    },

    /// A name is none of those that are known.
    #[error("{argument} is {name:?}; it must be one of {known}")]
    UnknownName {
        /// The argument's name.
        argument: &'static str,
        /// What was given.
        name: String,
        /// What would have been accepted, with commas.
        known: String,
    },

    /// A number of one element of an argument lies outside what makes sense for it.
    #[error("{argument}[{position}] is {value}; it must be {expected}")]
    ElementOutOfRange {
        /// The argument's name.
        argument: &'static str,
        /// Where it stands, counted from 0.
        position: usize,
        /// What stands there.
        value: f64,
        /// What would have been accepted.
        expected: &'static str,
    },

    /// What is wrong with the samples of one of several processes.
    #[error("{argument}[{process}]: {error}")]
    InProcess {
        /// The argument's name.
        argument: &'static str,
        /// Which process, counted from 0.
        process: usize,
        /// What is wrong.
        error: Box<Error>,
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

    /// What was given is no command.
    #[error("not a command: {reason}")]
    NotACommand {
        /// What is wrong with it.
        reason: String,
    },

    /// A command could not be started.
    #[error("{program} cannot be started: {}", std::io::Error::from_raw_os_error(*.errno))]
    Spawn {
        /// What was to be started.
        program: String,
        /// The system's reason.
        errno: i32,
    },

    /// A command could not be supervised, and was ended.
    #[error("the command could not be supervised: {reason}")]
    Supervision {
        /// What stood in the way.
        reason: String,
    },

    /// No profiler has this name.
    #[error("no profiler is called {name:?}")]
    UnknownProfiler {
        /// The name asked for.
        name: String,
    },

    /// A profiler's program is there but does not work.
    #[error("{path}: {reason}")]
    UnusableProfiler {
        /// The program.
        path: String,
        /// What it did instead.
        reason: String,
    },

    /// A file is not a capture that can be read.
    #[error("{path}: {reason}")]
    NotACapture {
        /// The file.
        path: String,
        /// What is wrong with it, or what it looks like.
        reason: String,
        /// What to do.
        hint: String,
    },

    /// Bytes are not a trace that this version has packed.
    #[error("not the events of captures: {reason}")]
    NotATrace {
        /// What is wrong with them.
        reason: String,
    },

    /// Bytes are not a summary that this version has packed.
    #[error("not a summary of captures: {reason}")]
    NotASummary {
        /// What is wrong with them.
        reason: String,
    },

    /// A file of categories cannot be understood.
    #[error("line {line}: {reason}")]
    BadCategories {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// What was being written cannot be.
    #[error("{reason}")]
    Unwritable {
        /// The system's number for why, where it has one.
        errno: Option<i32>,
        /// Why, in its words.
        reason: String,
    },

    /// The caller asked for the end of a command, and it was ended.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// That `name` is none of the `known` ones.
    pub(crate) fn unknown_name(argument: &'static str, name: &str, known: &str) -> Self {
        Self::UnknownName { argument, name: name.to_owned(), known: known.to_owned() }
    }

    /// The error of one process among those of an argument; the caller's wish to stop is of none.
    pub(crate) fn in_process(self, argument: &'static str, process: usize) -> Self {
        match self {
            Self::Interrupted => self,
            error => Self::InProcess { argument, process, error: Box::new(error) },
        }
    }

    pub(crate) fn spawn(program: &OsStr, errno: Errno) -> Self {
        Self::Spawn { program: program.display().to_string(), errno: errno.raw_os_error() }
    }

    pub(crate) fn supervision(errno: Errno) -> Self {
        Self::Supervision { reason: errno.to_string() }
    }
}

/// Shorthand for the core's results.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses a number that does not fit; `expected` is what would.
pub(crate) fn require(fits: bool, argument: &'static str, value: f64, expected: &'static str) -> Result<()> {
    if fits { Ok(()) } else { Err(Error::OutOfRange { argument, value, expected }) }
}

/// Refuses an argument of which something has come out infinite or as a NaN.
pub(crate) fn require_finite(argument: &'static str, values: &[f64]) -> Result<()> {
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(Error::Overflow { argument }) }
}

/// Declares an enumeration whose values have names, which callers pass and documents carry.
macro_rules! words {
    ($(#[$about:meta])* $seen:vis enum $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $seen enum $name { $($(#[$doc])* $value,)* }

        #[allow(dead_code, reason = "some are only written, others only read")]
        impl $name {
            /// Each, in their order.
            $seen const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// Its name in arguments and documents.
            $seen fn name(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }

            /// The one with this name, which was passed as `argument`.
            ///
            /// # Errors
            /// None is called so.
            $seen fn named(argument: &'static str, name: &str) -> $crate::error::Result<Self> {
                let found = Self::ALL.into_iter().find(|one| one.name() == name);
                found.ok_or_else(|| $crate::error::Error::unknown_name(argument, name, &[$($word),*].join(", ")))
            }
        }

        #[cfg(feature = "python")]
        $crate::results::python::word!($name);
    };
}
pub(crate) use words;
