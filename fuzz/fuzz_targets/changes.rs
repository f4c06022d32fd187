//! What libFuzzer calls for a new input: half of the inputs are changed by a form that their target knows.

use fastrand::Rng;
use libfuzzer_sys::fuzzer_mutate;

/// Changes `data[..size]` and returns its new size.
///
/// `change` returns None for a text of another form; then bytes are changed.
pub(crate) fn mutate(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    change: fn(&[u8], &mut Rng) -> Option<Vec<u8>>,
) -> usize {
    let mut dice = Rng::with_seed(seed.into());
    let made = if dice.bool() { change(&data[..size], &mut dice) } else { None };
    write(made, data, most).unwrap_or_else(|| fuzzer_mutate(data, size, most))
}

/// Writes what becomes of two texts to `out`, and returns its size.
pub(crate) fn cross(
    text: &[u8],
    other: &[u8],
    out: &mut [u8],
    seed: u32,
    change: fn(&[u8], &[u8], &mut Rng) -> Option<Vec<u8>>,
) -> usize {
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
