//! Whether a database is an export of Nsight Systems, and of which version.

use super::database::{Database, heard};
use crate::trace::readers::sqlite::Refusal;

/// The table that holds every text of an export once, and its key.
pub(super) const STRINGS: (&str, &str) = ("StringIds", "id");

/// Both names of the table that describes an export; the first came later.
const EXPORT_DATA: [&str; 2] = ["META_DATA_EXPORT", "EXPORT_META_DATA"];

/// Refuses what is no export.
pub(super) fn check(database: &Database) -> Result<(), Refusal> {
    let has = |name: &str| database.table(name).is_some();
    if has(STRINGS.0) {
        let is_whole = database.tables.iter().any(|table| table.has_events() || table.name.starts_with("TARGET_INFO_"));
        return if is_whole {
            Ok(())
        } else {
            let reason = "holds names and no events: the export that should have made it has failed";
            Err((reason.to_owned(), "export the report again, with the version of nsys that wrote it"))
        };
    }
    let reason = format!("is no export of Nsight Systems, nor a profile of nvprof: it has no table {}", STRINGS.0);
    Err((reason, "make an export from the report with: nsys export --type=sqlite REPORT"))
}

/// The versions of the schema and of the program that made the export.
pub(super) fn versions(database: &Database) -> (Option<String>, Option<String>) {
    let value = |key: &str| {
        EXPORT_DATA.iter().find_map(|table| {
            let sql = format!("SELECT value FROM {table} WHERE name = ?1");
            text(database, table, &sql, key)
        })
    };
    (value("EXPORT_SCHEMA_VERSION"), value("EXPORT_PRODUCT_VERSION"))
}

/// The first text that a statement finds, if the table is there and it is a short one.
pub(super) fn text(database: &Database, table: &str, sql: &str, key: &str) -> Option<String> {
    database.table(table)?;
    let text: String = heard(database.prepare(sql).ok()?.query_row([key], |row| row.get(0))).ok()?;
    (text.len() <= 64).then_some(text)
}
