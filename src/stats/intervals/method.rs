//! The names of the ways to an interval.

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalMethod {
    /// Interpolated order statistics of independent samples.
    HettmanspergerSheather,
    /// The same for as many samples as the dependent ones amount to.
    HettmanspergerSheatherEffective,
    /// From the smallest sample to the largest, where dependent ones amount to too few for the level.
    SampleRange,
    /// Student's t.
    T,
    /// Student's t on the logarithms of process medians.
    TLogProcessMedians,
}

impl IntervalMethod {
    /// The name that documents carry.
    pub fn name(self) -> &'static str {
        match self {
            Self::HettmanspergerSheather => "hettmansperger_sheather",
            Self::HettmanspergerSheatherEffective => "hettmansperger_sheather_effective",
            Self::SampleRange => "sample_range",
            Self::T => "t",
            Self::TLogProcessMedians => "t_log_process_medians",
        }
    }
}
