//! Freed memory that goes back to the system at once.
#![allow(unsafe_code, reason = "a setting of the C library's allocator")]

/// Size from which a freed block goes back, in bytes: where glibc starts. It raises its own limit up to 32 MiB with each
/// larger block that is freed, and keeps blocks below that.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FROM: libc::c_int = 128 << 10;

/// Makes the allocator of this process return freed blocks of 128 KiB and more. Does nothing without glibc.
pub(crate) fn return_freed() {
    // SAFETY: glibc takes its own lock, and blocks that exist stay as they are.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, FROM);
    }
}
