//! What samples look like.

mod fences;
mod modes;
mod quantile;
mod summary;

pub(in crate::python) use fences::outliers;
pub(in crate::python) use modes::modality;
pub(in crate::python) use quantile::quantiles;
pub(in crate::python) use summary::summarize;
