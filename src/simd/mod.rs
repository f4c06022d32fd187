//! Vector code. No other module has any. The processor is examined at run time; the portable path stays.

mod arithmetic;
#[cfg_attr(not(feature = "python"), allow(dead_code, reason = "the binding alone reads arrays of others"))]
mod load;
mod text;

#[cfg(test)]
pub(crate) use arithmetic::on_every_path;
pub(crate) use arithmetic::{Kernel, vectorised};
pub(crate) use load::load;
#[cfg(feature = "python")]
pub(crate) use load::load_behind;
pub(crate) use text::{BLOCK, Masks, Visitor, classify, parity};
