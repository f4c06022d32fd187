//! The error type of the core. A variant carries the values; callers choose the words around them.

use std::ffi::OsStr;

use rustix::io::Errno;
use thiserror::Error;

/// Errors of the core.
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
        /// Position of the value, counted from 0.
        position: usize,
        /// The value.
        value: f64,
    },

    /// A function that takes logarithms, or divides, was given something that is not above 0.
    #[error("{argument}[{position}] is {value}; every value must be above 0")]
    NotPositive {
        /// The argument's name.
        argument: &'static str,
        /// Position of the value, counted from 0.
        position: usize,
        /// The value.
        value: f64,
    },

    /// There are values, but not enough of them.
    #[error("{argument} has {found} {}; at least {needed} are needed", if *found == 1 { "value" } else { "values" })]
    TooFew {
        /// The argument's name.
        argument: &'static str,
        /// Least number of values.
        needed: usize,
        /// Number of values.
        found: usize,
    },

    /// Two arguments must have the same length.
    #[error("{argument} has {found} values, {other} has {expected}; the numbers must be equal")]
    UnequalLengths {
        /// The argument's name.
        argument: &'static str,
        /// Its length.
        found: usize,
        /// The name of the one it is held against.
        other: &'static str,
        /// Length of the other argument.
        expected: usize,
    },

    /// A name is not one of the known names.
    #[error("{argument} is {name:?}; it must be one of {known}")]
    UnknownName {
        /// The argument's name.
        argument: &'static str,
        /// The unknown name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },

    /// An element of an argument is out of range.
    #[error("{argument}[{position}] is {value}; it must be {expected}")]
    ElementOutOfRange {
        /// The argument's name.
        argument: &'static str,
        /// Position of the value, counted from 0.
        position: usize,
        /// The value.
        value: f64,
        /// Description of valid values.
        expected: &'static str,
    },

    /// The samples of one of several processes are invalid.
    #[error("{argument}[{process}]: {error}")]
    InProcess {
        /// The argument's name.
        argument: &'static str,
        /// Position of the process, counted from 0.
        process: usize,
        /// Error of its samples.
        error: Box<Error>,
    },

    /// The values are finite but so far apart that their spread is not.
    #[error("the range of {argument} overflows a 64-bit float; rescale the values")]
    Overflow {
        /// The argument's name.
        argument: &'static str,
    },

    /// A number lies outside the range that makes sense for it.
    #[error("{argument} is {value}; it must be {expected}")]
    OutOfRange {
        /// The argument's name.
        argument: &'static str,
        /// The value.
        value: f64,
        /// Description of valid values.
        expected: &'static str,
    },

    /// More edges were marked than the recorder had room for.
    #[error(
        "recorder is full: {marked} edges were marked, and {capacity} fit; create the recorder with the number of iterations of the loop"
    )]
    RecorderOverrun {
        /// Edges marked.
        marked: usize,
        /// Edges that fit.
        capacity: usize,
    },

    /// An edge or an iteration was requested that the recorder does not have.
    #[error("{argument} {index} does not exist; the recorder has {available}")]
    NoSuchEdge {
        /// `edge` or `iteration`.
        argument: &'static str,
        /// The requested index.
        index: usize,
        /// Number of edges or iterations.
        available: usize,
    },

    /// A text is not a run file.
    #[error("not a run file: {reason}")]
    NotARun {
        /// The JSON reader's word for it, with line and column.
        reason: String,
    },

    /// The argument is not a command.
    #[error("not a command: {reason}")]
    NotACommand {
        /// Reason why it is not a command.
        reason: String,
    },

    /// A command could not be started.
    #[error("cannot start {program}: {}", std::io::Error::from_raw_os_error(*.errno))]
    Spawn {
        /// The program.
        program: String,
        /// The system's reason.
        errno: i32,
    },

    /// A command could not be supervised, and was ended.
    #[error("the command could not be supervised: {reason}")]
    Supervision {
        /// Reason of the failure.
        reason: String,
    },

    /// No profiler has this name.
    #[error("unknown profiler: {name:?}")]
    UnknownProfiler {
        /// The requested name.
        name: String,
    },

    /// A profiler's program is there but does not work.
    #[error("{path}: {reason}")]
    UnusableProfiler {
        /// The program.
        path: String,
        /// Output or failure of the program.
        reason: String,
    },

    /// A file is not a capture that can be read.
    #[error("{path}: {reason}")]
    NotACapture {
        /// The file.
        path: String,
        /// Reason why the file is not a capture.
        reason: String,
        /// Imperative sentence with the next step.
        hint: String,
    },

    /// Bytes are not a trace that this version has packed.
    #[error("not a packed trace: {reason}")]
    NotATrace {
        /// Reason of the failure.
        reason: String,
    },

    /// Bytes are not a summary that this version has packed.
    #[error("not a packed summary: {reason}")]
    NotASummary {
        /// Reason of the failure.
        reason: String,
    },

    /// A file of categories cannot be understood.
    #[error("line {line}: {reason}")]
    BadCategories {
        /// Counted from 1.
        line: usize,
        /// Reason of the failure.
        reason: String,
    },

    /// Output could not be written.
    #[error("{reason}")]
    Unwritable {
        /// The system's number for why, where it has one.
        errno: Option<i32>,
        /// Description of the error.
        reason: String,
    },

    /// The caller requested the end of a command, and the command was ended.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Makes the error for a `name` that is not one of the `known` names.
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

/// Rejects a number that is out of range; `expected` describes valid numbers.
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
