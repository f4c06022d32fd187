//! Ranges of NVTX.

use proptest::prelude::*;

use super::*;
use crate::trace::{Label, Reach, Source};

const NVTX: &str = "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
    rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,
    textId INTEGER, domainId INTEGER);
    INSERT INTO StringIds VALUES (50, 'registered'), (51, 'named by number');";
/// Thread 5 of process 42.
const THREAD: i64 = 1 << 48 | 42 << 24 | 5;

/// Start, end, name, domain and reach of a range.
type Told<'a> = (i64, Option<i64>, &'a str, Option<&'a str>, Reach);

/// All ranges of process 42.
fn ranges(trace: &Trace) -> Vec<Told<'_>> {
    let text = |name| trace.names.text(name);
    let shown = |range: &crate::trace::Range| {
        let label: Label = trace.labels.all()[range.label as usize];
        assert_eq!((label.clock, label.process_id, label.source), (0, Some(42), Source::Nvtx));
        (range.start, range.end, text(label.name), label.domain.map(text), label.reach)
    };
    trace.ranges.iter().map(shown).collect()
}

/// Reads a capture with these rows.
fn of_rows(columns: &str, rows: &str) -> Trace {
    read_sql(&[CORE, NVTX, &format!("INSERT INTO NVTX_EVENTS ({columns}) VALUES {rows}")]).unwrap()
}

const ON_5: Reach = Reach::Thread(Some(5));

#[test]
fn reads_both_kinds_and_no_other() {
    let other = THREAD + 1;
    let trace = of_rows(
        "start, end, eventType, text, globalTid, endGlobalTid",
        &format!(
            "(1, 9, 59, 'outer', {THREAD}, NULL), (2, 3, 59, 'inner', {THREAD}, NULL), (4, 4, 60, 'all', {THREAD},
            {other}), (5, 6, 70, 'read', {other}, NULL), (6, 7, 71, 'both', {other}, NULL), (5, NULL, 34, 'mark',
            {THREAD}, NULL), (5, NULL, 33, 'category', {THREAD}, NULL), (0, NULL, 39, 'thread', {THREAD}, NULL),
            (7, NULL, 59, 'open', {THREAD}, NULL), (8, NULL, 60, 'open', {THREAD}, NULL), (8, 9, 1234, 'new', 0, 0)"
        ),
    );
    let expected: [Told<'_>; 7] = [
        (1, Some(9), "outer", None, ON_5),
        (2, Some(3), "inner", None, ON_5),
        (4, Some(4), "all", None, Reach::Process),
        (5, Some(6), "read", None, Reach::Thread(Some(6))),
        (6, Some(7), "both", None, Reach::Process),
        (7, None, "open", None, ON_5),
        (8, None, "open", None, Reach::Process),
    ];
    assert_eq!(ranges(&trace), expected);
    assert_eq!((trace.captures[0].events_read, trace.captures[0].events_skipped), (15, 0));
    assert_eq!(trace.ranges.iter().map(|range| trace.labels.all()[range.label as usize].clock).max(), Some(0));
    assert_eq!(trace.callees.all()[0].clock, 0);
}

#[test]
fn finds_names_in_place_and_by_number() {
    let trace = of_rows(
        "start, end, eventType, text, textId, globalTid",
        &format!(
            "(1, 2, 59, 'in place', 50, {THREAD}), (3, 4, 59, NULL, 50, {THREAD}), (5, 6, 59, NULL, NULL, {THREAD}),
            (7, 8, 59, '', NULL, {THREAD}), (9, 9, 59, x'00', 50, {THREAD}), (9, 9, 59, NULL, 99, {THREAD}),
            (9, 9, 59, CAST(x'61ff' AS TEXT), NULL, {THREAD})"
        ),
    );
    let names: Vec<&str> = ranges(&trace).iter().map(|range| range.2).collect();
    assert_eq!(names, ["in place", "registered", "[no name]", "", "registered", "[string 99]", "a\u{fffd}"]);
    assert_eq!(codes(&trace), ["names_missing"]);
}

#[test]
fn domains_are_those_of_their_process() {
    let other = 43_i64 << 24;
    let trace = of_rows(
        "start, end, eventType, text, textId, domainId, globalTid",
        &format!(
            "(1, 2, 59, 'a', NULL, 1, {THREAD}), (1, 2, 60, 'b', NULL, 2, {THREAD} + 1), (1, 2, 59, 'c', NULL, 3, {THREAD}),
            (1, 2, 59, 'd', NULL, 0, {THREAD}), (1, 2, 59, 'e', NULL, NULL, {THREAD}),
            (0, NULL, 75, 'NCCL', NULL, 1, {THREAD}), (0, NULL, 75, 'again', NULL, 1, {THREAD}),
            (0, NULL, 75, NULL, 51, 2, {THREAD}), (0, NULL, 75, 'theirs', NULL, 3, {other}),
            (0, NULL, 75, 'none', NULL, 0, {THREAD}), (0, NULL, 75, 'what', NULL, x'01', {THREAD})"
        ),
    );
    let found: Vec<_> = ranges(&trace).iter().map(|range| (range.2, range.3)).collect();
    assert_eq!(found, [("a", Some("NCCL")), ("b", Some("named by number")), ("c", None), ("d", None), ("e", None)]);
    assert_eq!((trace.captures[0].events_read, trace.captures[0].events_skipped), (15, 0));
}

#[test]
fn leaves_out_ranges_that_make_no_sense() {
    let loose = "ALTER TABLE NVTX_EVENTS RENAME TO old; CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);
        INSERT INTO NVTX_EVENTS VALUES (5, 4, 59, 'a', 0), (NULL, 4, 59, 'a', 0), (NULL, NULL, 60, 'a', 0),
            (1, 2, x'00', 'a', 0), (1, 2, 'push', 'a', 0), (0.5, 2, 59, 'a', 0), (1, '', 59, 'a', 0), (1, 2, 59, 'a', ''),
            (3, 9, 60, 7, -1), (-9223372036854775807, 9223372036854775807, 60, 'a', 0), (9223372036854775807, NULL, 60, 'a', 0),
            (0, 604800000000001, 59, 'a', 0), (x'00', '', 34, 'a', ''), (1, 2, NULL, 'a', 0);
        DROP TABLE old;";
    let trace = read_sql(&[CORE, NVTX, loose]).unwrap();
    let expected = [
        ("a duration of more than a week", 2),
        ("a time that no clock shows", 1),
        ("an end before the start", 1),
        ("no start", 2),
        ("text instead of a number", 5),
    ];
    let mut found = skipped(&trace);
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!((trace.captures[0].events_read, trace.captures[0].events_skipped), (7, 11));
    let label = trace.labels.all()[0];
    assert_eq!((trace.ranges[0].start, trace.ranges[0].end), (3, Some(9)));
    assert_eq!((label.process_id, trace.names.text(label.name)), (Some(0xff_ffff), "[no name]"));
}

#[test]
fn takes_tables_with_fewer_columns() {
    for (table, expected) in [
        ("(text TEXT, start INTEGER)", 0),
        ("(start INTEGER, eventType INTEGER)", 1),
        ("(start INTEGER PRIMARY KEY, eventType INTEGER, end REAL)", 1),
        ("(\"timestamp\" INTEGER, eventType INTEGER)", 0),
    ] {
        let sql = format!("CREATE TABLE NVTX_EVENTS {table}; INSERT INTO NVTX_EVENTS VALUES (59, 59{})", {
            if table.contains("end") { ", NULL" } else { "" }
        });
        let trace = read_sql(&[CORE, &sql]).unwrap();
        assert_eq!(trace.ranges.len(), expected, "{table}");
        let capture = &trace.captures[0];
        assert_eq!(capture.events_read + capture.events_skipped, 5, "{table}");
        for label in trace.labels.all() {
            assert_eq!((label.process_id, label.reach, label.domain), (None, Reach::Thread(None), None));
        }
    }
}

#[test]
fn marks_what_ran_in_graphs() {
    let trace = read_sql(&[
        CORE,
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = correlationId - 1;
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, copyKind INTEGER, graphNodeId INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 1, NULL), (2, 3, 1, 0), (3, 4, 1, 77), (4, 5, 1, 78);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1, 2);",
    ])
    .unwrap();
    let in_graph = |entry: crate::trace::Entry| trace.works.all()[entry.what as usize].in_graph;
    assert_eq!(trace.kernels.iter().map(in_graph).collect::<Vec<_>>(), [false, true]);
    assert_eq!(trace.memory.iter().map(in_graph).collect::<Vec<_>>(), [false, false, true, true, false]);
    // However many nodes there are, they did two things.
    assert_eq!(trace.works.all().len(), 2 + 2 + 1);
}

#[test]
fn texts_on_shared_pages_come_to_an_end() {
    // One leaf whose cells are all the same: each row has the text of the first.
    let folder = Folder::new();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO NVTX_EVENTS (start, end, eventType, text) SELECT i, i, 59, CASE i WHEN 300 THEN
        printf('%.*c', 1200, 'x') END FROM n;";
    let path = folder.database("x.sqlite", &["PRAGMA page_size = 8192", CORE, NVTX, sql]);
    let root: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let page = (root as usize - 1) * 8192;
    assert_eq!((bytes[page], u16::from_be_bytes([bytes[page + 3], bytes[page + 4]])), (13, 300));
    let last = bytes[page + 8 + 2 * 299..][..2].to_owned();
    (0..300).for_each(|cell| bytes[page + 8 + 2 * cell..][..2].copy_from_slice(&last));
    fs::write(&path, bytes).unwrap();
    let trace = read(&path).unwrap();
    let capture = &trace.captures[0];
    assert_eq!(codes(&trace), ["rows_lost"]);
    assert_eq!(trace.ranges.len() as u64, 2 * capture.size_bytes / 1200);
    assert_eq!((capture.events_read, capture.events_skipped), (4 + trace.ranges.len() as u64, 1));
}

/// A value of a column, as SQL has it.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => (0..63_u32, any::<i64>()).prop_map(|(shift, number)| (number >> shift).max(-i64::MAX).to_string()),
        4 => Just("NULL".to_owned()),
        1 => Just("'text'".to_owned()),
        1 => Just("0.5".to_owned()),
        1 => Just("x'00'".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Reading without SQLite gives the same rows as SQLite, and no row is lost.
    #[test]
    fn every_row_is_read_or_left_out(
        rows in prop::collection::vec(
            (value(), value(), prop::sample::select(&[59, 60, 70, 71, 75, 34][..]), value(), value(), 0..200_usize, 0..4),
            1..120,
        ),
        long in 0..40_usize,
    ) {
        let rows: Vec<String> = rows
            .into_iter()
            .enumerate()
            .map(|(place, (start, end, kind, thread, id, length, domain))| {
                let length = if place == long { length * 100 } else { length };
                let text = if length % 3 == 0 { "NULL".to_owned() } else { format!("'{}'", "xö".repeat(length)) };
                format!("({start}, {end}, {kind}, {thread}, {id}, {domain}, {text})")
            })
            .collect();
        let sql = format!(
            "CREATE TABLE other (start, end, eventType INTEGER, globalTid, textId, domainId, text TEXT);
             DROP TABLE NVTX_EVENTS; ALTER TABLE other RENAME TO NVTX_EVENTS; INSERT INTO NVTX_EVENTS VALUES {}",
            rows.join(", ")
        );
        for encoding in ["UTF-8", "UTF-16le"] {
            let folder = Folder::new();
            let path = folder.database("x.sqlite", &[&format!("PRAGMA encoding = '{encoding}'"), CORE, NVTX, &sql]);
            pages::assert_same(&path);
            let capture = &read(&path).unwrap().captures[0];
            prop_assert_eq!(capture.events_read + capture.events_skipped, 4 + rows.len() as u64);
        }
    }
}
