//! The one place of vector code. What a processor can do is asked when the program runs; the portable path stays.

mod arithmetic;
mod text;

#[cfg(test)]
pub(crate) use arithmetic::on_every_path;
pub(crate) use arithmetic::{Kernel, vectorised};
pub(crate) use text::{BLOCK, Masks, Visitor, classify, parity};
