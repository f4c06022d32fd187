//! Functions that libFuzzer calls to make an input. Half of the changes keep the form of the target's files.

use fastrand::Rng;
use libfuzzer_sys::fuzzer_mutate;

/// Makes a text of another one; None if that is of another form.
pub(crate) type Change = fn(&[u8], &mut Rng) -> Option<Vec<u8>>;
/// Makes a text of two.
pub(crate) type Cross = fn(&[u8], &[u8], &mut Rng) -> Option<Vec<u8>>;

/// Changes `data[..size]` and returns its new size; if `change` returns None, bytes are changed.
pub(crate) fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32, change: Change) -> usize {
    let mut dice = Rng::with_seed(seed.into());
    let made = if dice.bool() { change(&data[..size], &mut dice) } else { None };
    write(made, data, most).unwrap_or_else(|| fuzzer_mutate(data, size, most))
}

/// Writes what becomes of two texts to `out`, and returns its size.
pub(crate) fn cross(text: &[u8], other: &[u8], out: &mut [u8], seed: u32, change: Cross) -> usize {
    let most = out.len();
    let made = change(text, other, &mut Rng::with_seed(seed.into()));
    write(made, out, most).unwrap_or_else(|| {
        let size = text.len().min(most);
        out[..size].copy_from_slice(&text[..size]);
        fuzzer_mutate(out, size, most)
    })
}

fn write(made: Option<Vec<u8>>, out: &mut [u8], most: usize) -> Option<usize> {
    let made = made.filter(|made| made.len() <= most)?;
    out[..made.len()].copy_from_slice(&made);
    Some(made.len())
}
