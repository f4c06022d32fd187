//! Reading without SQLite gives the same rows as SQLite.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::trace::Entry;
use crate::trace::readers::sqlite::database::Database;
use crate::trace::readers::sqlite::pages::{Scan, Stop};

/// All that was read, in words.
fn shown(read: Result<Trace, Error>) -> String {
    let trace = match read {
        Ok(trace) => trace,
        Err(error) => return error.to_string(),
    };
    let entries = [&trace.kernels, &trace.memory, &trace.calls].map(|log| log.iter().collect::<Vec<Entry>>());
    let names: Vec<&str> = trace.names.all().collect();
    let Trace { captures, warnings, devices, works, callees, labels, ranges, .. } = &trace;
    format!(
        "{captures:?}\n{warnings:?}\n{devices:?}\n{names:?}\n{:?}\n{:?}\n{entries:?}\n{:?}\n{ranges:?}",
        works.all(),
        callees.all(),
        labels.all()
    )
}

fn through_sqlite(path: &Path) -> Result<Trace, Error> {
    let Ok(mut database) = Database::open(path) else { return read(path) };
    if crate::trace::readers::nsys_sqlite::form::check(&database).is_err() {
        return read(path);
    }
    database.pages = None;
    let mut trace = Trace::default();
    let capture =
        crate::trace::readers::nsys_sqlite::read_database(&database, path, named(path), &mut trace, &|| false)?;
    trace.captures.push(capture);
    Ok(trace)
}

/// Reads a file both ways.
pub(super) fn assert_same(path: &Path) {
    let (ours, theirs) = (shown(read(path)), shown(through_sqlite(path)));
    if ours != theirs {
        let differs = ours.bytes().zip(theirs.bytes()).take_while(|(one, other)| one == other).count();
        let near = |text: &str| text.chars().skip(differs.saturating_sub(200)).take(400).collect::<String>();
        panic!("{}:\nours: {}\ntheirs: {}", path.display(), near(&ours), near(&theirs));
    }
}

/// Returns the number of rows of a table, if its pages are as usual.
fn counted(path: &Path, table: &str) -> Result<u64, Stop> {
    let database = Database::open(path).unwrap();
    let Some(pages) = &database.pages else { return Err(Stop::Unusual) };
    let root = database.table(table).unwrap().root.ok_or(Stop::Unusual)?;
    Scan { pages, root, budget: &mut pages.budget(database.stored_bytes), interrupted: &|| false }.count()
}

/// Rows of all three tables, with numbers of every length and, seldom, something else.
fn rows(count: u32, seed: u32) -> String {
    let number =
        |salt: u32| format!("(abs(i * 2654435761 + {seed} * {salt}) % 9223372036854775807 >> (i * {salt} % 63))");
    let (start, long) = (number(3), number(7));
    format!(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, note TEXT, bytes INTEGER,
            copyKind INTEGER, streamId INTEGER);
        CREATE TABLE NVTX_EVENTS (text TEXT, start INTEGER);
        CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
            SELECT i FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT {start}, {start} + i * 7, i % 3, {long},
            CASE i % 50 WHEN 0 THEN NULL ELSE i % 5 END, i, i % 4 << 24, i % 7, i % 2, i % 300, i % 2, 1, 1, 128,
            i % 70000, 1, 0, i << i % 40, CASE i % 90 WHEN 1 THEN 'text' WHEN 2 THEN 0.5 WHEN 3 THEN 0 END FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT {start}, {start} + {long} / 2, i % 68, {long}, i, i % 9, 0 FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT {start}, CASE i % 30 WHEN 0 THEN 0 WHEN 1 THEN NULL ELSE
            {start} + i END, i % 2, hex(randomblob(i % 20)), {long} - 3, i % 12, i % 3 FROM n;
        INSERT INTO NVTX_EVENTS SELECT printf('%.*c', CASE i % 40 WHEN 0 THEN i * 30 ELSE 9 END, 'x'), i FROM n;"
    )
}

/// Changes of the tables.
const CHANGES: [&str; 12] = [
    "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 3 = 0; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY",
    "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid < 500; VACUUM",
    "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN mangledName INTEGER;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, mangledName) VALUES (1, 2, 0, 3)",
    "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD COLUMN globalPid INTEGER DEFAULT 83886080",
    "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN contextId",
    "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET note = printf('%.*c', 70000, 'x') WHERE rowid % 17 = 0",
    "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = 5.0, end = '7', nameId = '12 apples' WHERE rowid % 5 = 0",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start REAL, end DOUBLE PRECISION, deviceId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET SELECT i, i + 1, 0 FROM n",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER PRIMARY KEY, end INTEGER, deviceId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET SELECT i, i + 1, 0 FROM n",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT PRIMARY KEY, end INT, deviceId INT) WITHOUT ROWID;
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET SELECT i, i + 1, 0 FROM n",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (deviceId INTEGER, twice AS (start * 2), start INTEGER, end INTEGER,
        thrice AS (end * 3) STORED, bytes INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, bytes) SELECT i, i + 1, i FROM n",
    "UPDATE NVTX_EVENTS SET start = NULL; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -start, end = 0",
];

#[test]
fn remembers_no_number_of_a_segment_that_has_ended() {
    // Between columns that are read stand others, so that most rows have more pieces than are remembered.
    let what: Vec<&str> = "globalPid deviceId streamId demangledName shortName registersPerThread staticSharedMemory \
        dynamicSharedMemory gridX gridY gridZ blockX blockY blockZ"
        .split_whitespace()
        .collect();
    let columns: Vec<String> = what.iter().map(|name| format!("{name} INTEGER, {name}Pad INTEGER")).collect();
    let many = "2, 5, ".repeat(what.len() - 6);
    let few = "NULL, 5, ".repeat(what.len() - 2);
    let sql = format!(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, {});
        CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 9, i * 9 + 5, {many} i + 300, 5, 2, 5, 2, 5, 2, 5, 2, 5, 2, 5
            FROM n WHERE i % 5 > 0;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 9, i * 9 + 5, {few} i % 3 + 2, 5, i % 2 + 2, 5 FROM n WHERE i % 5 = 0;
        CREATE TABLE mixed AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start;
        DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM mixed;
        DROP TABLE mixed",
        columns.join(", ")
    );
    let folder = Folder::new();
    assert_same(&folder.database("x.sqlite", &[&sql]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn finds_the_same_rows_as_sqlite(
        page in 9_u32..=16,
        vacuum in 0..3,
        count in prop_oneof![0_u32..3, 3_u32..200, 200_u32..3000],
        seed: u32,
        changes in prop::collection::vec(0..CHANGES.len(), 0..4),
    ) {
        let folder = Folder::new();
        let form = format!("PRAGMA page_size = {}; PRAGMA auto_vacuum = {vacuum}", 1 << page);
        let rows = rows(count, seed);
        let mut sql = vec![form.as_str(), CORE, &rows];
        let mut seen = [false; CHANGES.len()];
        for change in changes {
            // There is one table of sets.
            let is_there = seen[change] || (7..=10).contains(&change) && seen[7..=10].contains(&true);
            seen[change] = true;
            if !is_there {
                sql.push(CHANGES[change]);
            }
        }
        let path = folder.database("capture.sqlite", &sql);
        assert_same(&path);
        prop_assert!(counted(&path, "CUPTI_ACTIVITY_KIND_RUNTIME").is_ok());
        prop_assert!(counted(&path, "NVTX_EVENTS").is_ok());
    }

    #[test]
    fn finds_the_same_in_damaged_files(
        page in 9_u32..=12,
        seed: u32,
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
    ) {
        let folder = Folder::new();
        let form = format!("PRAGMA page_size = {}", 1 << page);
        let path = folder.database("capture.sqlite", &[&form, CORE, &rows(60, seed)]);
        let mut bytes = fs::read(&path).unwrap();
        for (place, byte, is_at_page) in damages {
            let place = place.index(bytes.len());
            // Most of what matters stands where a page begins.
            let place = if is_at_page { (place >> page << page) + usize::from(byte) % 24 } else { place };
            bytes[place] = byte.wrapping_mul(167);
        }
        fs::write(&path, &bytes).unwrap();
        assert_same(&path);
    }
}

#[test]
fn leaves_rows_without_columns_to_sqlite() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &["PRAGMA page_size = 512", CORE]);
    let mut bytes = fs::read(&path).unwrap();
    let root = Database::open(&path).unwrap().table("CUPTI_ACTIVITY_KIND_RUNTIME").unwrap().root.unwrap();
    let page = &mut bytes[(root as usize - 1) * 512..][..512];
    let second = usize::from(u16::from_be_bytes([page[10], page[11]]));
    // A record of one byte, which says that its header is one byte long.
    (page[second], page[second + 2]) = (1, 1);
    fs::write(&path, &bytes).unwrap();
    assert_same(&path);
    assert_eq!(codes(&read(&path).unwrap()), ["rows_lost"]);
}

#[test]
fn reads_ordinary_tables_without_sqlite() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, &rows(20_000, 1)]);
    for table in ["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"] {
        assert_eq!(counted(&path, table), Ok(20_002));
        let database = Database::open(&path).unwrap();
        let table = database.table(table).unwrap();
        assert!(table.columns.iter().all(|column| table.place(&column.name).is_some()));
    }
    assert_same(&path);
}

#[test]
fn leaves_what_is_unusual_to_sqlite() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, &rows(3000, 1)]);
    let whole = fs::read(&path).unwrap();
    let kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
    for (place, byte) in [(20, 8), (21, 65), (19, 3), (31, whole[31] ^ 1), (27, whole[27] ^ 1)] {
        let mut odd = whole.clone();
        odd[place] = byte;
        fs::write(&path, &odd).unwrap();
        let Ok(database) = Database::open(&path) else { continue };
        // Bytes that are held back at the end of pages are known, but these pages use them.
        assert!(database.pages.is_none() || place == 20);
        assert_same(&path);
    }
    for sql in
        ["CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES (1)", "CREATE TABLE t (a, b AS (a))"]
    {
        let path = folder.database("other.sqlite", &[sql]);
        assert_eq!(counted(&path, "t"), Err(Stop::Unusual));
        fs::remove_file(path).unwrap();
    }
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(Database::open(&path).unwrap().pages.is_none());
    fs::write(&path, &whole).unwrap();
    assert!(counted(&path, kernels).is_ok());
}

#[test]
fn is_interrupted_without_sqlite_too() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, &rows(20_000, 1)]);
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let read = crate::trace::readers::nsys_sqlite::read_file(&path, named(&path), &mut Trace::default(), &interrupted);
    assert!(matches!(read, Err(Error::Interrupted)), "{read:?}");
}
