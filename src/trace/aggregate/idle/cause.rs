//! The causes of idle time.

use crate::error::words;

words! {
    /// Cause of idle time; of two causes on the host that cover the same time, the first counts.
    pub(in crate::trace::aggregate) enum Cause {
        /// Between two operations of one launch of a graph.
        GraphGap = "graph_gap",
        /// The call that ended the idle time is unknown.
        Unmatched = "unmatched",
        /// From the start of that call on.
        Launch = "launch",
        /// Its thread waited for the device.
        Synchronization = "synchronization",
        /// Its thread was busy with memory.
        Allocation = "allocation",
        /// Its thread waited for data.
        DataLoader = "data_loader",
        /// Its thread did anything else.
        Host = "host",
        /// The operation was queued already, and waited for something else.
        Dependency = "dependency",
    }
}
