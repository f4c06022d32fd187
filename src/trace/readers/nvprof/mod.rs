//! Files of nvprof: profiles, and printed tables.

pub(super) mod csv;
mod names;
pub(super) mod sqlite;
