//! Numbers that other threads may change, as they are now.
#![allow(unsafe_code, reason = "copies that no compiler sees through")]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI64, AtomicU64};

/// A number of eight bytes.
pub(crate) trait Word: Copy {
    /// The same while it may change. Its layout is that of the number.
    type Changing;
}

impl Word for f64 {
    type Changing = AtomicU64;
}

impl Word for i64 {
    type Changing = AtomicI64;
}

/// Copies numbers, each of which is loaded once, whole, and in no order: equivalent to relaxed atomic loads, at the speed of a
/// copy.
///
/// # Panics
/// If the lengths differ.
#[allow(clippy::inline_always, reason = "it is to be compiled into what calls it")]
#[inline(always)]
pub(crate) fn load<'a, W: Word>(from: &[W::Changing], to: &'a mut [MaybeUninit<W>]) -> &'a [W] {
    assert!(from.len() == to.len(), "as many places as numbers");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: so many words are there to be read, and so many to be written, which no other thread sees. The processor reads and
    // writes aligned words whole.
    unsafe {
        std::arch::asm!(
            "rep movsq",
            inout("rcx") from.len() => _,
            inout("rsi") from.as_ptr() => _,
            inout("rdi") to.as_mut_ptr() => _,
            options(nostack, preserves_flags)
        );
        // The next numbers are prefetched while these are processed. A prefetch beyond the end has no effect.
        for ahead in (0..from.len()).step_by(8) {
            let next = from.as_ptr().wrapping_add(from.len() + ahead);
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(next.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    for (from, to) in from.iter().zip(&mut *to) {
        // SAFETY: an atomic number of eight bytes, and a number that may have any bits.
        let bits =
            unsafe { (*std::ptr::from_ref(from).cast::<AtomicU64>()).load(std::sync::atomic::Ordering::Relaxed) };
        // SAFETY: the place of a number, which takes eight bytes.
        unsafe { to.as_mut_ptr().cast::<u64>().write(bits) };
    }
    // SAFETY: all have been written, and any bits are a number.
    unsafe { &*(std::ptr::from_ref(to) as *const [W]) }
}

/// Adds copies of numbers to a list that has room for them.
pub(crate) fn load_behind<W: Word>(from: &[W::Changing], list: &mut Vec<W>) {
    let length = list.len() + from.len();
    load(from, &mut list.spare_capacity_mut()[..from.len()]);
    // SAFETY: so many have been written behind those that were there.
    unsafe { list.set_len(length) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_every_bit() {
        for length in [0, 1, 7, 1024, 5000] {
            let bits: Vec<u64> = (0..length).map(|place| place ^ 0x7ff4_0000_0000_0001).collect();
            let changing: Vec<AtomicU64> = bits.iter().copied().map(AtomicU64::new).collect();
            let mut floats = Vec::with_capacity(2 * length as usize);
            load_behind::<f64>(&changing, &mut floats);
            load_behind::<f64>(&changing[..1.min(changing.len())], &mut floats);
            assert!(floats.iter().map(|value| value.to_bits()).eq(bits.iter().chain(bits.first()).copied()));
            let changing: Vec<AtomicI64> = bits.iter().map(|bits| AtomicI64::new(bits.cast_signed())).collect();
            let mut place = vec![MaybeUninit::uninit(); bits.len()];
            assert!(load::<i64>(&changing, &mut place).iter().map(|number| number.cast_unsigned()).eq(bits));
        }
    }
}
