//! What nvprof writes: profiles, and the tables that it prints.

pub(super) mod csv;
mod names;
pub(super) mod sqlite;
