//! Captures from the field, where `FASTRNNS_CORPUS` names them.

use super::*;

#[test]
fn reads_every_row_of_captures_from_the_field() {
    let Some(corpus) = std::env::var_os("FASTRNNS_CORPUS") else { return };
    let mut count = 0;
    for entry in fs::read_dir(PathBuf::from(corpus).join("nsys")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "sqlite") {
            continue;
        }
        count += 1;
        let trace = read(&path).unwrap();
        pages::assert_same(&path);
        let uri = format!("file://{}?immutable=1", path.display());
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI;
        let database = Connection::open_with_flags(uri, flags).unwrap();
        let rows = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            database.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap_or(0) as u64
        };
        assert_eq!(trace.kernels.len(), rows("CUPTI_ACTIVITY_KIND_KERNEL"), "{}", path.display());
        let memory = rows("CUPTI_ACTIVITY_KIND_MEMCPY") + rows("CUPTI_ACTIVITY_KIND_MEMSET");
        assert_eq!(trace.memory.len(), memory, "{}", path.display());
        assert_eq!(trace.calls.len(), rows("CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass <> 67"), "{}", path.display());
        assert_eq!(trace.captures[0].events_skipped, 0);
        assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    }
    assert!(count > 0, "FASTRNNS_CORPUS holds no nsys/*.sqlite");
}
