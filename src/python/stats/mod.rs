//! `fastrnns_rs.stats`: one file per topic. Results are the frozen objects that the core declares.

pub(super) mod bootstrap;
pub(super) mod decisions;
pub(super) mod dependence;
pub(super) mod description;
pub(super) mod growth;
pub(super) mod intervals;
pub(super) mod means;
pub(super) mod moments;
pub(super) mod multiple;
pub(super) mod permutation;
pub(super) mod precision;
pub(super) mod ranks;
pub(super) mod series;
