//! What ran in graphs, and whether they were captured as a whole, so that this is not told.

use super::database::Database;
use super::form;
use crate::trace::Warning;

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const OPTIONS: &str = "META_DATA_CAPTURE";
/// Some releases put `PROCESS_0:` in front of it.
const MODE: &str = "CUDA_GRAPH_TRACE_OPTIONS:MODE";

/// Says so, if `whole` graphs were recorded, or if they were `launched`, none of their nodes was seen, and the profiler
/// was told not to look into them.
pub(super) fn warning(path: &str, database: &Database, whole: u64, launched: bool) -> Option<Warning> {
    let mode = || {
        let sql = format!("SELECT value FROM {OPTIONS} WHERE substr(name, -length(?1)) = ?1");
        form::text(database, OPTIONS, &sql, MODE)
    };
    let evidence = if whole > 0 {
        format!("{whole} rows in {TABLE}")
    } else if launched && mode().as_deref() == Some("Graph") {
        format!("graphs were launched, and {MODE} is Graph")
    } else {
        return None;
    };
    Some(Warning {
        code: "graph_level_capture",
        message: format!("{path}: graphs were captured as a whole, and the kernels that ran in them are missing"),
        evidence,
        hint: "capture again with --cuda-graph-trace=node".to_owned(),
    })
}
