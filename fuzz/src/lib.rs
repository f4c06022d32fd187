//! Properties that hold for any input, a module for each target.
//!
//! Each has a function `check`, which panics where one does not hold, and returns whether the input was of this target at
//! all. The programs of `fuzz_targets/` call it, and so do the package's tests (`src/fuzz_seeds.rs`).

pub mod kineto;
pub mod names;
pub mod nsys_sqlite;
pub mod nvprof_csv;
pub mod nvprof_sqlite;
mod options;
mod reading;
