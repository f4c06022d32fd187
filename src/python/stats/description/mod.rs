//! What samples look like.

mod fences;
mod modes;
mod quantile;
mod summary;

pub(in crate::python) use fences::{Outliers, outliers};
pub(in crate::python) use modes::{Modality, Mode, modality};
pub(in crate::python) use quantile::quantiles;
pub(in crate::python) use summary::{Summary, summarize};
