//! Memory for the small allocations of a call that runs out of memory, until the next check ends the call.
//!
//! Some address space is mapped and never touched, so that it takes no memory, while limits count it. If an allocation fails,
//! the address space is unmapped, and the allocation is repeated.
#![allow(unsafe_code, reason = "an allocator, and a mapping that nothing points into")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// More than all threads of a call allocate in small pieces between two checks.
const BYTES: usize = 16 << 20;

/// The mapping; null if there is no mapping.
static CUSHION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// True from the moment it is given up until there is another.
static SHORT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True while the code that allocates on this thread handles a lack of memory.
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Makes sure that there is a cushion, if there is memory for it.
pub(crate) fn hold() {
    if !CUSHION.load(Ordering::Relaxed).is_null() {
        return;
    }
    // SAFETY: a mapping of its own, wherever there is room.
    let mapped = unsafe {
        mmap_anonymous(null_mut(), BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE)
    };
    match mapped {
        Ok(place) if CUSHION.compare_exchange(null_mut(), place, Ordering::Relaxed, Ordering::Relaxed).is_ok() => {
            SHORT.store(false, Ordering::Relaxed);
        }
        // Another thread was faster.
        Ok(place) => unmap(place),
        Err(_) => SHORT.store(true, Ordering::Relaxed),
    }
}

/// True if the cushion was given up, or could not be mapped.
#[inline]
pub(crate) fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Runs code that handles a lack of memory, without using the cushion.
pub(super) fn fallibly<R>(ask: impl FnOnce() -> R) -> R {
    let before = FALLIBLE.replace(true);
    let answer = ask();
    FALLIBLE.set(before);
    answer
}

fn give_up() {
    let place = CUSHION.swap(null_mut(), Ordering::Relaxed);
    SHORT.store(true, Ordering::Relaxed);
    if !place.is_null() {
        unmap(place);
    }
}

fn unmap(place: *mut c_void) {
    // SAFETY: mapped by `hold`, and taken out of the one place where it was known. Nothing points into it.
    let _ = unsafe { munmap(place, BYTES) };
}

/// The system's allocator with the cushion behind it.
struct Cushioned;

#[cfg(feature = "python")]
#[global_allocator]
static ALLOCATOR: Cushioned = Cushioned;

/// Asks once more where an allocation has failed that cannot do without.
#[cold]
fn retry(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    if FALLIBLE.get() {
        return null_mut();
    }
    give_up();
    allocate()
}

// SAFETY: every call is the system allocator's, which keeps to the contract.
unsafe impl GlobalAlloc for Cushioned {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract, which is the same; so below.
        let allocate = || unsafe { System.alloc(layout) };
        let place = allocate();
        if place.is_null() { retry(allocate) } else { place }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let allocate = || unsafe { System.alloc_zeroed(layout) };
        let place = allocate();
        if place.is_null() { retry(allocate) } else { place }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; where it fails, what was there remains.
        let allocate = || unsafe { System.realloc(old, layout, size) };
        let place = allocate();
        if place.is_null() { retry(allocate) } else { place }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}
