//! Check of a database for an export of Nsight Systems, and its version.

use super::database::{Database, checked};
use crate::trace::readers::sqlite::Refusal;

/// The table that holds every text of an export once, and its key.
pub(super) const STRINGS: (&str, &str) = ("StringIds", "id");

/// Both names of the table that describes an export; the first came later.
const EXPORT_DATA: [&str; 2] = ["META_DATA_EXPORT", "EXPORT_META_DATA"];

/// Rejects a database that is not an export.
pub(super) fn check(database: &Database) -> Result<(), Refusal> {
    let has = |name: &str| database.table(name).is_some();
    if has(STRINGS.0) {
        let is_whole = database.tables.iter().any(|table| table.has_events() || table.name.starts_with("TARGET_INFO_"));
        return if is_whole {
            Ok(())
        } else {
            let reason = "the export has names, but no events: it failed";
            Err((reason.to_owned(), "Export the report again, with the version of nsys that wrote the report."))
        };
    }
    let reason = format!("the database is not an nsys export or an nvprof profile: it has no table {}", STRINGS.0);
    Err((reason, "Export the report: nsys export --type sqlite REPORT"))
}

/// The versions of the schema and of the program that made the export.
pub(super) fn versions(database: &Database) -> (Option<String>, Option<String>) {
    let value = |key: &str| EXPORT_DATA.iter().find_map(|table| text(database, table, "name = ?1", key));
    (value("EXPORT_SCHEMA_VERSION"), value("EXPORT_PRODUCT_VERSION"))
}

/// The first value of a row whose name meets a condition, if the table is there. Long texts are not read.
pub(super) fn text(database: &Database, table: &str, condition: &str, key: &str) -> Option<String> {
    database.table(table)?;
    let is_short = "octet_length(name) <= 256 AND octet_length(value) <= 64";
    let sql = format!("SELECT value FROM {table} WHERE {is_short} AND {condition}");
    checked(database.prepare(&sql).ok()?.query_row([key], |row| row.get(0))).ok()
}
