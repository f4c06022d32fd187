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
        let ranges = rows("NVTX_EVENTS WHERE eventType IN (59, 60, 70, 71)");
        assert_eq!(trace.ranges.len() as u64, ranges, "{}", path.display());
        assert_eq!(trace.captures[0].events_skipped, 0);
        assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
        let in_domains = trace.ranges.iter().filter(|range| trace.labels.all()[range.label as usize].domain.is_some());
        // One file has ranges of a domain that it does not name.
        let named = "SELECT domainId FROM NVTX_EVENTS WHERE eventType = 75";
        let in_named = rows(&format!("NVTX_EVENTS WHERE eventType = 59 AND domainId IN ({named})"));
        assert_eq!(in_domains.count() as u64, in_named, "{}", path.display());
    }
    assert!(count > 0, "FASTRNNS_CORPUS holds no nsys/*.sqlite");
}

/// A process and a correlation.
type Key = (Option<i64>, u64);

/// Where correlations alone decided, eleven more kernels would have a launch, of the other process.
#[test]
fn kernels_have_the_launches_of_their_process() {
    let Some(corpus) = std::env::var_os("FASTRNNS_CORPUS") else { return };
    let trace = read(&PathBuf::from(corpus).join("nsys/h100_2gpu_2026.2.sqlite")).unwrap();
    let calls: Vec<Key> =
        trace.calls.iter().map(|call| (trace.callees.all()[call.what as usize].process_id, call.correlation)).collect();
    let kernels = trace.kernels.iter().map(|kernel| {
        let device = trace.works.all()[kernel.what as usize].queue.device;
        (trace.devices[device as usize].process_id, kernel.correlation)
    });
    let found = |is_launch: &dyn Fn(&Key, &Key) -> bool| {
        kernels.clone().filter(|kernel| calls.iter().any(|call| is_launch(kernel, call))).count()
    };
    assert_eq!((trace.kernels.len(), found(&|kernel, call| kernel == call)), (3442, 1632));
    assert_eq!(found(&|kernel, call| kernel.1 == call.1), 1643);
}
