//! Every form of the export, and files that are not exports.

use super::*;

#[test]
fn reads_the_core() {
    let mut trace = read_sql(&[CORE]).unwrap();
    let name = "void gemm<float>(int)";
    assert_eq!(kernels(&trace), [(100, 150, name, Some([4, 5, 6])), (200, 260, name, Some([4, 5, 6]))]);
    let Kind::Kernel(names, shape) = trace.works.all()[0].kind else { panic!("no kernel") };
    assert_eq!(names.short.map(|short| trace.names.text(short)), Some("gemm"));
    assert_eq!(names.mangled, None);
    assert_eq!((shape.block, shape.registers_per_thread), (Some([128, 1, 1]), Some(32)));
    assert_eq!(shape.shared_memory_bytes, Some(1040));
    assert_eq!(trace.works.all().len(), 1);
    assert_eq!(trace.works.all()[0].queue.stream, Some(7));
    let device = &trace.devices[0];
    assert_eq!((device.process_id, device.device_id, device.name.as_deref()), (Some(42), Some(0), Some("Example GPU")));
    // A failed call is a call.
    assert_eq!(calls(&mut trace, "cudaLaunchKernel"), 2);
    let capture = &trace.captures[0];
    assert_eq!(capture.format, "nsys-sqlite");
    assert_eq!((capture.events_read, capture.events_skipped, capture.graph_level), (4, 0, false));
    assert_eq!((&capture.format_version, &capture.tool_version), (&None, &None));
    assert!(capture.path.ends_with("capture.sqlite"));
    assert!(trace.warnings.is_empty());
}

#[test]
fn keeps_captures_apart() {
    let folder = Folder::new();
    let paths = ["one.sqlite", "two.sqlite"].map(|name| folder.database(name, &[CORE]));
    let mut trace = Trace::default();
    for path in &paths {
        read_into(path, &mut trace).unwrap();
    }
    assert_eq!((trace.captures.len(), trace.devices.len(), trace.kernels.len()), (2, 2, 4));
    assert!(trace.devices.iter().all(|device| device.name.as_deref() == Some("Example GPU")));
}

#[test]
fn reads_the_oldest_form() {
    let trace = read_sql(&["
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_GPU (deviceId INTEGER, name TEXT, busLocation TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, demangledName INTEGER);
        INSERT INTO StringIds VALUES (1, 'k');
        INSERT INTO TARGET_INFO_GPU VALUES (3, 'Old GPU', NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 3, 1);
    "])
    .unwrap();
    assert_eq!(kernels(&trace), [(1, 2, "k", None)]);
    let device = &trace.devices[0];
    assert_eq!((device.process_id, device.device_id, device.name.as_deref()), (None, Some(3), Some("Old GPU")));
    assert_eq!(trace.works.all()[0].queue.stream, None);
}

#[test]
fn takes_what_it_knows_of_a_newer_form() {
    let trace = read_sql(&[
        CORE,
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN mangledName INTEGER;
         ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN quantumSpin TEXT DEFAULT 'up';
         CREATE TABLE QUANTUM_EVENTS (\"timestamp\" INTEGER, spin TEXT);
         CREATE TABLE QUANTUM_INFO (spin TEXT);
         CREATE TABLE CUPTI_ACTIVITY_KIND_QUANTUM (spin TEXT);
         CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
         INSERT INTO QUANTUM_EVENTS VALUES (1, 'up'), (2, 'down');
         INSERT INTO QUANTUM_INFO VALUES ('up');
         INSERT INTO CUPTI_ACTIVITY_KIND_QUANTUM VALUES ('up');
         INSERT INTO META_DATA_EXPORT VALUES
            ('EXPORT_SCHEMA_VERSION', '9.1.0'), ('EXPORT_PRODUCT_VERSION', '2031.1.1.1');
         INSERT INTO StringIds VALUES (9, '_Z4gemm');
         UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET mangledName = 9;",
    ])
    .unwrap();
    let Kind::Kernel(names, _) = trace.works.all()[0].kind else { panic!("no kernel") };
    assert_eq!(names.mangled.map(|mangled| trace.names.text(mangled)), Some("_Z4gemm"));
    let capture = &trace.captures[0];
    assert_eq!(
        (capture.format_version.as_deref(), capture.tool_version.as_deref()),
        (Some("9.1.0"), Some("2031.1.1.1"))
    );
    assert_eq!(capture.events_read, 7);
}

#[test]
fn reads_versions_under_their_former_name() {
    let metadata = "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
         INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_OUTUPT_PATH', '/somewhere'), ('EXPORT_SCHEMA_VERSION', '3.0.0');";
    assert_eq!(read_sql(&[CORE, metadata]).unwrap().captures[0].format_version.as_deref(), Some("3.0.0"));
}

#[test]
fn counts_devices_as_the_machine_does() {
    let trace = read_sql(&[
        CORE,
        "INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 5, 'Fifth GPU');
         CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
         INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 41), (5, 0, 42), (NULL, 1, 42);",
    ])
    .unwrap();
    let device = &trace.devices[0];
    assert_eq!((device.device_id, device.name.as_deref()), (Some(5), Some("Fifth GPU")));
}

#[test]
fn reads_copies_and_sets() {
    let trace = read_sql(&[
        CORE,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            globalPid INTEGER, value INTEGER, bytes INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 5, 0, 7, 0, 64, 1), (6, 8, 0, 7, 0, 32, 8),
            (9, 9, 0, 7, 0, NULL, 11), (9, 10, 0, 7, 0, -1, 99), (9, 11, 0, 7, 0, 1, NULL);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (20, 21, 0, 7, 0, 0, 4096);",
    ])
    .unwrap();
    let expected = [
        ("memcpy HtoD", 5, Some(64)),
        ("memcpy DtoD", 2, Some(32)),
        ("memcpy UM HtoD", 0, None),
        ("memcpy kind 99", 1, None),
        ("memcpy unknown", 2, Some(1)),
        ("memset", 1, Some(4096)),
    ];
    assert_eq!(memory(&trace), expected);
    assert_eq!(trace.captures[0].events_read, 10);
}

#[test]
fn cuts_releases_off_names_of_calls_and_counts_no_call_twice() {
    let mut trace = read_sql(&[
        CORE,
        "INSERT INTO StringIds VALUES (11, 'cuGetProcAddress_v2'), (12, 'cudaGetDeviceProperties_v2_v12000'),
            (13, 'cudaMalloc'), (14, 'cudaMalloc_v3020'), (15, '_v_vx'), (16, 'cuInit_v');
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 1, 0, 3, 11, 0), (1, 2, 0, 0, 4, 12, 0),
            (1, 4, 67, 0, 5, 13, 0), (2, 3, 0, 0, 5, 14, 0), (1, 2, 0, 0, 6, 15, 0), (1, 2, 0, 0, 7, 16, 0),
            (1, 2, 0, 0, 8, NULL, 0);",
    ])
    .unwrap();
    for name in ["cuGetProcAddress_v2", "cudaGetDeviceProperties_v2", "cudaMalloc", "_v_vx", "cuInit_v", "[no name]"] {
        assert_eq!(calls(&mut trace, name), 1, "{name}");
    }
    assert_eq!(trace.captures[0].events_read, 11);
}

#[test]
fn names_of_tables_and_columns_ignore_the_case_of_letters() {
    let whole = read_sql(&[CORE]).unwrap();
    let mut trace = read_sql(&[&CORE.to_ascii_lowercase()]).unwrap();
    let shifted =
        |trace: &Trace| trace.kernels.iter().map(|one| (one.start, one.end, one.correlation)).collect::<Vec<_>>();
    assert_eq!((trace.kernels.len(), shifted(&trace)), (2, shifted(&whole)));
    assert_eq!(trace.devices[0].name.as_deref(), Some("example gpu"));
    assert_eq!(calls(&mut trace, "cudalaunchkernel"), 2);
    assert_eq!((trace.captures[0].events_read, trace.captures[0].events_skipped), (4, 0));
    assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
}

const LAUNCHES: &str = "INSERT INTO StringIds VALUES (20, 'cudaGraphLaunch_v10000');
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (300, 310, 0, 0, 9, 20, 0);";
const MODE: &str = "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
    INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph');";

#[test]
fn warns_of_graphs_that_were_captured_whole() {
    let rows = "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, graphId INTEGER);";
    let row = "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2, 3);";
    for (sql, expected) in [
        (vec![CORE, rows, row], true),
        (vec![CORE, LAUNCHES, MODE], true),
        (vec![CORE, rows], false),
        (vec![CORE, MODE], false),
        (vec![CORE, LAUNCHES], false),
        (vec![CORE, LAUNCHES, MODE, "UPDATE META_DATA_CAPTURE SET value = 'Node'"], false),
        // An old driver looks into graphs whatever it is shown.
        (vec![CORE, LAUNCHES, MODE, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 5"], false),
    ] {
        let trace = read_sql(&sql).unwrap();
        assert_eq!(trace.captures[0].graph_level, expected, "{sql:?}");
        assert_eq!(codes(&trace) == ["graph_level_capture"], expected, "{sql:?}");
        // Views of devices read no calls.
        for extent in [Extent::Devices, Extent::Kernels] {
            let folder = Folder::new();
            let mut trace = Trace::behind(0);
            trace.extent = extent;
            read_into(&folder.database("capture.sqlite", &sql), &mut trace).unwrap();
            assert_eq!(codes(&trace) == ["graph_level_capture"], expected, "{extent:?} {sql:?}");
        }
    }
}

#[test]
fn refuses_databases_that_are_not_exports() {
    let (reason, _) = refusal(read_sql(&["CREATE TABLE t (x)"]));
    assert!(reason.contains("not an nsys export"), "{reason}");
    let (reason, hint) = refusal(read_sql(&["
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE META_DATA_EXPORT (name, value);"]));
    assert!(reason.contains("failed") && hint.contains("the version of nsys"), "{reason}");
}

#[test]
fn an_export_without_a_device_is_one() {
    let trace = read_sql(&["
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT);
        CREATE TABLE OSRT_API (start INTEGER, end INTEGER);
        INSERT INTO OSRT_API VALUES (1, 2), (NULL, NULL);"])
    .unwrap();
    assert!(trace.kernels.is_empty() && trace.devices.is_empty() && trace.warnings.is_empty());
    assert_eq!(trace.captures[0].events_read, 2);
}
