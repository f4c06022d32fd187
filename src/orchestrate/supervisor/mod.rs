//! The helper process that every command is a child of.
//!
//! It is the subreaper of all that a command starts, so that nothing escapes it by forking twice, by a session of its
//! own or by a cleared environment. It learns of our death from the kernel, ends everything, and goes. It has one command
//! at a time, so that whatever is below it is of that one; commands that run at once have a supervisor each. One is started
//! when none is free, and leaves when there has been nothing to do for a second.
//! Processes that take no signal, such as those of another user, are left: waiting for them could take for ever.
//!
//! Should the supervisor itself be killed, what it had is found by [`MARK`], which every command has among its variables.

mod client;
mod inherited;
mod serve;
mod tree;
mod wire;

pub use client::set_program;
pub(super) use client::{Line, nothing, request};
pub use serve::serve;
pub(super) use wire::{Order, Report, timespec};

/// The variable by which the processes of a command know each other.
pub const MARK: &str = "FASTRNNS_COMMAND";
