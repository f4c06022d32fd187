//! Two sides: whether they differ, by how much, and which verdict that is.

pub mod decisions;
pub mod hypotheses;
