//! The host of an export, and the versions of its drivers.

use super::database::Database;
use super::devices::list;
use crate::trace::capture::CaptureEnvironment;

const TABLE: &str = "TARGET_INFO_SYSTEM_ENV";

/// Longest name or value that is read, in bytes.
const LONGEST: usize = 128;

/// Returns the environment of an export.
pub(super) fn read(database: &Database) -> CaptureEnvironment {
    let text = |name| value(database, name).unwrap_or_default();
    CaptureEnvironment {
        host_name: CaptureEnvironment::text(&text("Hostname")),
        gpu_driver_version: CaptureEnvironment::text(&text("NvDriverVersion")),
        cuda_driver_version: CaptureEnvironment::cuda_version(&text("CudaDriverVersion")),
        ..CaptureEnvironment::default()
    }
}

/// Returns the value of a name. Two values are of two machines: neither is sure.
fn value(database: &Database, name: &str) -> Option<String> {
    database.table(TABLE)?;
    let is_short = format!("max(octet_length(name), octet_length(value)) <= {LONGEST}");
    let of = format!("{is_short} AND name = '{name}'");
    let mut values =
        list(database, &format!("SELECT DISTINCT value FROM {TABLE} WHERE {of} LIMIT 2"), |row| row.get(0));
    values.pop().filter(|_| values.is_empty())
}
