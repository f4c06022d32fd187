//! Kernels of CUDA graphs, and captures of whole graphs, whose kernels are missing.

use super::database::Database;
use super::form;
use crate::trace::{Warning, counted};

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const OPTIONS: &str = "META_DATA_CAPTURE";
/// Some releases put `PROCESS_0:` in front of it.
const MODE: &str = "CUDA_GRAPH_TRACE_OPTIONS:MODE";

/// Warns if `whole` graphs were recorded, or if graphs were `launched`, no node was recorded, and the profiler was configured
/// not to trace nodes.
pub(super) fn warning(path: &str, database: &Database, whole: u64, launched: bool) -> Option<Warning> {
    let evidence = if whole > 0 {
        format!("{} in {TABLE}", counted(whole, "row"))
    } else if launched && has_no_nodes(database) {
        format!("CUDA graphs were launched, and {MODE} is Graph")
    } else {
        return None;
    };
    Some(Warning {
        code: "graph_level_capture",
        message: "kernels of CUDA graphs are missing".to_owned(),
        evidence: format!("{path}: {evidence}"),
        hint: "Capture the kernels of graphs: nsys profile --cuda-graph-trace=node COMMAND".to_owned(),
    })
}

/// Returns true if the profiler was configured not to trace the nodes of graphs.
pub(super) fn has_no_nodes(database: &Database) -> bool {
    form::text(database, OPTIONS, "substr(name, -length(?1)) = ?1", MODE).as_deref() == Some("Graph")
}
