//! Description of samples.

mod extremes;
mod modality;
mod outliers;
mod quantiles;
mod summary;

pub use modality::{Modality, Mode, modality};
pub use outliers::{Outliers, outliers};
pub use quantiles::{QuantileMethod, quantiles};
pub use summary::{Summary, summarize};
