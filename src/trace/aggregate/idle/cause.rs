//! The causes of idle time.

/// Why a device was idle; of two causes on the host that cover the same time the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::trace::aggregate) enum Cause {
    /// Between two operations of one launch of a graph.
    GraphGap,
    /// Nothing is known of the call that ended it.
    Unmatched,
    /// From the start of that call on.
    Launch,
    /// Its thread waited for the device.
    Synchronization,
    /// Its thread was busy with memory.
    Allocation,
    /// Its thread waited for data.
    DataLoader,
    /// Its thread did anything else.
    Host,
    /// The operation was queued already, and waited for something else.
    Dependency,
}

impl Cause {
    pub(in crate::trace::aggregate) const ALL: [Self; 8] = [
        Self::GraphGap,
        Self::Unmatched,
        Self::Launch,
        Self::Synchronization,
        Self::Allocation,
        Self::DataLoader,
        Self::Host,
        Self::Dependency,
    ];

    /// What it is called in summaries.
    pub(in crate::trace::aggregate) fn name(self) -> &'static str {
        match self {
            Self::GraphGap => "graph_gap",
            Self::Unmatched => "unmatched",
            Self::Launch => "launch",
            Self::Synchronization => "synchronization",
            Self::Allocation => "allocation",
            Self::DataLoader => "data_loader",
            Self::Host => "host",
            Self::Dependency => "dependency",
        }
    }
}
