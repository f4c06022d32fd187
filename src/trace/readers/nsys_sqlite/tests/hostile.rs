//! Files that are damaged, or made to do harm.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use super::*;
use crate::trace::readers::nvprof;
use crate::trace::readers::sqlite::MAGIC;
use crate::trace::readers::sqlite::database::Database;

const ROWS: &str = "
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000 + 10 * i, 1005 + 10 * i, 0, 1, 7, i, 42 << 24, 1, 2, 32, 1, 1, 1,
        1, 1, 1, 0, 0, NULL FROM n;";

#[test]
fn leaves_out_rows_that_make_no_sense() {
    let trace = read_sql(&[
        CORE,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, bytes, copyKind);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5, 4, 0, 1, 1), (NULL, 4, 0, 1, 1), (4, NULL, 0, 1, 1),
            (4, 5, 'zero', 1, 1), (4.5, 5, 0, 1, 1), (4, 5, 0, x'00', 1), ('', '', '', '', ''), (4, 5, 0, 1, 1),
            (-9223372036854775807, 9223372036854775807, 0, 1, 1),
            (-7, 604799999999993, -1, 9223372036854775807, -5);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, globalPid, demangledName, gridX, gridY,
            gridZ, registersPerThread, staticSharedMemory, dynamicSharedMemory)
            VALUES (1, 2, -1, -1, -1, -1, -1, 1, 1, 4294967296, 9223372036854775807, 9223372036854775807);",
    ])
    .unwrap();
    assert_eq!(
        skipped(&trace),
        [
            ("an end before the start", 1),
            ("no start or no end", 2),
            ("text instead of a number", 4),
            ("a duration of more than a week", 1)
        ]
    );
    assert_eq!(memory(&trace)[0], ("memcpy HtoD", 1, Some(1)));
    assert_eq!(memory(&trace)[1], ("memcpy kind -5", 604_800_000_000_000, Some(i64::MAX as u64)));
    assert_eq!(kernels(&trace)[2], (1, 2, "[string -1]", None));
    assert_eq!(codes(&trace), ["names_missing"]);
    assert_eq!((trace.captures[0].events_read, trace.captures[0].events_skipped), (7, 8));
}

#[test]
fn keeps_rows_whose_names_are_missing() {
    for change in [
        "DELETE FROM StringIds",
        "UPDATE StringIds SET value = x'ff'",
        "UPDATE StringIds SET value = zeroblob(20000000)",
        "PRAGMA writable_schema = 1; UPDATE StringIds SET value = printf('%.*c', 20000000, 'x')",
        "ALTER TABLE StringIds RENAME COLUMN value TO content",
    ] {
        let mut trace = read_sql(&[CORE, change]).unwrap();
        assert_eq!(kernels(&trace)[0].2, "[string 1]", "{change}");
        assert_eq!(calls(&mut trace, "[string 3]"), 2);
        assert_eq!(codes(&trace), ["names_missing"]);
        assert!(trace.warnings[0].message.contains("3 names"), "{}", trace.warnings[0].message);
        assert_eq!((trace.captures[0].events_read, trace.captures[0].events_skipped), (4, 0));
    }
}

#[test]
fn finds_names_without_a_key_and_in_other_encodings() {
    let keyless = "CREATE TABLE other AS SELECT * FROM StringIds; DROP TABLE StringIds;
        ALTER TABLE other RENAME TO StringIds; INSERT INTO StringIds VALUES (1, 'a second one'), ('x', 'y')";
    let trace = read_sql(&[CORE, keyless]).unwrap();
    assert_eq!(kernels(&trace)[0].2, "void gemm<float>(int)");
    let trace = read_sql(&["PRAGMA encoding = 'UTF-16le'", CORE]).unwrap();
    assert_eq!(kernels(&trace)[0].2, "void gemm<float>(int)");
    let trace = read_sql(&[CORE, "UPDATE StringIds SET value = CAST(x'61ff62' AS TEXT)"]).unwrap();
    assert_eq!(kernels(&trace)[0].2, "a\u{fffd}b");
}

#[test]
fn reads_only_real_tables() {
    let view = "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO hidden;
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start FROM n)
            SELECT start, start AS end FROM n;";
    let virtual_table = "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;
        CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5(start, end);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2);";
    for (change, why) in [(view, "a view is not read"), (virtual_table, "a virtual table is not read")] {
        let trace = read_sql(&[CORE, change]).unwrap();
        assert!(trace.kernels.is_empty());
        assert_eq!(codes(&trace), ["rows_lost"]);
        let expected = format!("CUPTI_ACTIVITY_KIND_KERNEL, after 0 rows: {why}");
        assert!(trace.warnings[0].evidence.ends_with(&expected), "{}", trace.warnings[0].evidence);
    }
    // Others are nothing that a summary lacks.
    assert!(read_sql(&[CORE, "CREATE VIEW v AS SELECT start FROM NVTX_EVENTS"]).unwrap().warnings.is_empty());
    // An export has no computed columns.
    let computed = "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
        start INTEGER, end INTEGER AS (length(hex(zeroblob(100000000)))), deviceId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1);";
    let trace = read_sql(&[CORE, computed]).unwrap();
    assert_eq!(skipped(&trace), [("no start or no end", 1)]);
}

#[test]
fn reads_tables_however_they_are_made() {
    let remade = "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL";
    let rows = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId) VALUES (7, 9, 0), (-1, 3, 0)";
    for (columns, starts) in [
        ("(end, deviceId, start, PRIMARY KEY (deviceId, end)) WITHOUT ROWID", [-1, 7]),
        ("(deviceId DEFAULT 3, end, start INTEGER PRIMARY KEY)", [-1, 7]),
        ("(rowid, end, start, deviceId CHECK (deviceId = 0), UNIQUE (end, start))", [7, -1]),
        ("(start INT, end INT, deviceId INT) STRICT", [7, -1]),
    ] {
        let trace = read_sql(&[CORE, &format!("{remade} {columns}; {rows}")]).unwrap();
        assert_eq!(kernels(&trace).iter().map(|kernel| kernel.0).collect::<Vec<_>>(), starts, "{columns}");
    }
    // Rows that are older than a column have its default.
    let changed = "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN streamId TO old;
        ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN streamId INTEGER DEFAULT 9;
        CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL (abs(start)) WHERE start > 100;
        CREATE TRIGGER t BEFORE INSERT ON CUPTI_ACTIVITY_KIND_KERNEL BEGIN DELETE FROM StringIds; END";
    let trace = read_sql(&[CORE, changed]).unwrap();
    assert_eq!(
        kernels(&trace).iter().map(|kernel| (kernel.0, kernel.2)).collect::<Vec<_>>(),
        [(100, "void gemm<float>(int)"), (200, "void gemm<float>(int)")]
    );
    assert!(trace.works.all().iter().all(|work| work.queue.stream == Some(9)));
}

#[test]
fn reads_a_file_that_breaks_off_as_far_as_it_goes() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, ROWS]);
    let whole = fs::read(&path).unwrap();
    let mut most = 0;
    for pages in 1..whole.len() / 4096 {
        fs::write(&path, &whole[..pages * 4096 + 700]).unwrap();
        match read(&path) {
            Ok(trace) => {
                assert_eq!(codes(&trace)[0], "file_cut_short");
                // Every kernel that is shown is one that was there.
                let name = "void gemm<float>(int)";
                assert!(kernels(&trace).iter().all(|kernel| kernel.2 == name || kernel.2.starts_with("[string")));
                most = most.max(trace.kernels.len());
            }
            Err(error) => assert!(matches!(error, Error::NotACapture { .. }), "{error}"),
        }
    }
    assert!((4000..5002).contains(&most), "{most}");
}

#[test]
fn tables_that_run_in_circles_come_to_an_end() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, ROWS]);
    let root: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'", [], |row| row.get(0))
        .unwrap();
    // Every child of the root becomes its first one.
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let at = (root as u64 - 1) * 4096;
    let mut page = [0; 4096];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut page).unwrap();
    assert_eq!(page[0], 5, "the table has one leaf");
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let place = |cell: usize| usize::from(u16::from_be_bytes([page[12 + 2 * cell], page[13 + 2 * cell]]));
    let first: [u8; 4] = page[place(0)..place(0) + 4].try_into().unwrap();
    for cell in 1..cells {
        file.seek(SeekFrom::Start(at + place(cell) as u64)).unwrap();
        file.write_all(&first).unwrap();
    }
    drop(file);
    let trace = read(&path).unwrap();
    let capture = &trace.captures[0];
    assert!(capture.events_read < capture.size_bytes / 5 + 2);
}

#[test]
fn tables_that_share_pages_come_to_an_end() {
    let share =
        "PRAGMA writable_schema = 1; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO sqlite_master SELECT 'table', 'CUPTI_ACTIVITY_KIND_' || i, 'CUPTI_ACTIVITY_KIND_' || i,
        (SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'),
        'CREATE TABLE CUPTI_ACTIVITY_KIND_' || i || '(start)' FROM n;";
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, ROWS, share]);
    let stored_bytes = fs::metadata(&path).unwrap().len();
    let mut seen = Vec::new();
    // A hole makes a file larger, not what it stores.
    for pages in [None, Some(1 << 28)] {
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        if let Some(count) = pages {
            file.set_len(u64::from(count) * 4096).unwrap();
            file.seek(SeekFrom::Start(28)).unwrap();
            file.write_all(&u32::to_be_bytes(count)).unwrap();
        }
        drop(file);
        let trace = read(&path).unwrap();
        assert_eq!(codes(&trace), ["rows_lost"]);
        seen.push((trace.kernels.len(), trace.captures[0].events_read));
    }
    assert_eq!(seen, [(5002, stored_bytes / 5); 2]);
}

#[test]
fn no_machine_has_that_many_devices() {
    let many = "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId);
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET SELECT 1, 2, i FROM n;";
    let trace = read_sql(&[CORE, many]).unwrap();
    assert_eq!(trace.devices.len(), 1 << 12);
    assert_eq!(skipped(&trace), [("too many devices", 5_001 + 1 - (1 << 12))]);
}

/// Number of bytes of a page of the next databases.
const PAGE: usize = 1024;
const PAGES: &str = "PRAGMA page_size = 1024";

/// Makes the tree with this root one of 12 levels, in which each page names the next page 61 times. Its rows are on the last.
fn share_pages(path: &Path, root: usize) {
    let mut file = fs::read(path).unwrap();
    let (at, head, first) = ((root - 1) * PAGE, if root == 1 { 100 } else { 0 }, file.len() / PAGE + 1);
    let mut leaf = file[at..at + PAGE].to_vec();
    // The first page has the header of the file in front.
    leaf.copy_within(head..head + 200, 0);
    let name = |page: &mut [u8], head: usize, child: usize| {
        let child = u32::try_from(child).unwrap().to_be_bytes();
        page[head..head + 8].copy_from_slice(&[5, 0, 0, 0, 60, 3, 251, 0]);
        page[head + 8..head + 12].copy_from_slice(&child);
        page[head + 12..head + 132].copy_from_slice(&[3, 251].repeat(60));
        page[PAGE - 5..PAGE - 1].copy_from_slice(&child);
        page[PAGE - 1] = 1;
    };
    name(&mut file[at..at + PAGE], head, first);
    for next in first + 1..first + 12 {
        let mut page = [0; PAGE];
        name(&mut page, 0, next);
        file.extend(page);
    }
    file.extend(leaf);
    let pages = u32::try_from(file.len() / PAGE).unwrap();
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(path, file).unwrap();
}

#[test]
fn refuses_files_whose_pages_refer_to_each_other_without_end() {
    let folder = Folder::new();
    let metadata = "CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('a', 'b')";
    let path = folder.database("metadata.sqlite", &[PAGES, CORE, metadata]);
    assert!(read(&path).is_ok());
    let root = Database::open(&path).unwrap().table("META_DATA_EXPORT").unwrap().root.unwrap();
    share_pages(&path, root as usize);
    assert!(refusal(read(&path)).0.starts_with("the file is damaged"));

    let nvprof =
        "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT); CREATE TABLE Version (version INTEGER)";
    for (sql, is_nvprof) in [(CORE, false), (nvprof, true)] {
        let path = folder.database(&format!("tables-{is_nvprof}.sqlite"), &[PAGES, sql]);
        assert_eq!(nvprof::sqlite::matches(MAGIC, &path), is_nvprof);
        share_pages(&path, 1);
        assert!(!nvprof::sqlite::matches(MAGIC, &path));
        assert!(refusal(read(&path)).0.starts_with("the file is damaged"));
        // SQLite hides errors in the list of tables of a truncated file.
        let file = fs::read(&path).unwrap();
        fs::write(&path, &file[..file.len() - 1]).unwrap();
        assert!(refusal(read(&path)).0.starts_with("the file is damaged"));
    }
}
