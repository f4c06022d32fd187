//! Commands under supervision: whatever happens to us, nothing that we started stays behind.
//!
//! ```text
//! this process --- socket ---> supervisor --- parent of ---> command --- parent of ---> whatever it starts
//!      ^                                                    |
//!      +------------------- standard streams ---------------+
//! ```
//!
//! - [`command`] says what to run.
//! - [`process`] is a running command: its streams, its deadline, its end.
//! - [`supervisor`] is the helper process that every command is a child of. It outlives us by as long as it takes to end them.
//! - [`profilers`] are the programs that watch a command, each as the commands that it takes.
//! - [`tail`] keeps the last part of a stream.

pub mod command;
pub mod process;
pub mod profilers;
pub mod supervisor;
pub mod tail;

pub use command::{Command, Completed};
pub use process::{Process, run};
