//! Lack of memory. Rust ends the process if an allocation fails, and with it the interpreter that called.
//!
//! - Collections that grow with the input allocate with [`Room`]. Without memory, the call ends by [`fail`].
//! - All other allocations are small. If one of these fails, the [`cushion`] is released for it, and the next [`check`] ends the
//!   call.
//! - The C library allocates for new threads, and ends the process if it fails. [`Reserve`] keeps memory for it.
//!
//! A call ends by unwinding with an [`OutOfMemory`], which no panic hook sees: code in between needs no results for it.

mod cushion;
mod reserve;
#[cfg(feature = "python")]
mod returned;
mod room;

use std::panic::resume_unwind;

#[cfg(feature = "python")]
pub(crate) use cushion::hold;
pub(crate) use cushion::is_short;
pub(crate) use reserve::Reserve;
#[cfg(feature = "python")]
pub(crate) use returned::return_freed;
pub(crate) use room::{Grown, Room, collected, copied, filled, gathered, list, shared, try_list};

/// Payload with which a call without memory unwinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    /// Size of the allocation that failed, in bytes; `None` where it is not known.
    pub(crate) bytes: Option<usize>,
}

/// Ends the call for want of so many bytes.
#[cold]
pub(crate) fn fail(bytes: Option<usize>) -> ! {
    resume_unwind(Box::new(OutOfMemory { bytes }))
}

/// Ends the call if the process is short of memory. For loops with many small allocations.
#[inline]
pub(crate) fn check() {
    if is_short() {
        fail(None);
    }
}

/// Ends the call unless so many bytes can be allocated now, as code of others is about to do.
pub(crate) fn probe(bytes: usize) {
    drop(list::<u8>(bytes));
}
