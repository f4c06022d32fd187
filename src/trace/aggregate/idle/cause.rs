//! The causes of idle time.

use crate::error::words;

words! {
    /// Why a device was idle; of two causes on the host that cover the same time the first counts.
    pub(in crate::trace::aggregate) enum Cause {
        /// Between two operations of one launch of a graph.
        GraphGap = "graph_gap",
        /// Nothing is known of the call that ended it.
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
