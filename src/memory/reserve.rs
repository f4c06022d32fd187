//! Memory that is set aside for the C library, which ends the process where it finds none.
#![allow(unsafe_code, reason = "a mapping that nothing points into")]

use std::ffi::c_void;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Address space that is mapped and never touched; dropping it makes it available again.
pub(crate) struct Reserve {
    place: *mut c_void,
    bytes: usize,
}

impl Reserve {
    /// Maps so many bytes, at least 1; `None` if there is not so much memory.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a mapping of its own, wherever there is room.
        let place = unsafe { mmap_anonymous(null_mut(), bytes, access, flags) }.ok()?;
        Some(Self { place, bytes })
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing points into it.
        let _ = unsafe { munmap(self.place, self.bytes) };
    }
}
