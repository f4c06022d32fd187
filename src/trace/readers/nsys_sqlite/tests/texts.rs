//! Texts that many rows refer to, or that many rows share.

use std::cell::Cell;

use super::*;
use crate::trace::readers::sqlite::database::Database;
use crate::trace::readers::sqlite::progress::Progress;

/// Number of bytes of a page.
const PAGE: usize = 4096;
/// Length of a text that needs many pages. Only some hundred bytes of it lie in the row itself.
const LONG: usize = 201_050;

/// Repeats the only row of a table under the keys from 1 on. All rows have the overflow pages of the first.
fn repeat_row(path: &Path, table: &str, rows: u16) {
    let root = Database::open(path).unwrap().table(table).unwrap().root.unwrap() as usize;
    let mut file = fs::read(path).unwrap();
    let page = &file[(root - 1) * PAGE..root * PAGE];
    assert_eq!(&page[..5], [13, 0, 0, 0, 1], "the table has one row");
    let at = usize::from(u16::from_be_bytes([page[8], page[9]]));
    let digits = 1 + page[at..].iter().take_while(|&&byte| byte >= 128).count();
    let length = page[at..at + digits].iter().fold(0, |sum, byte| sum << 7 | usize::from(byte & 127));
    let least = (PAGE - 12) * 32 / 255 - 23;
    let here = least + (length - least) % (PAGE - 4);
    let here = if here <= PAGE - 35 { here } else { least } + 4;
    let (length, rest) = (page[at..at + digits].to_vec(), page[at + digits + 1..at + digits + 1 + here].to_vec());

    let key = |key: u16| [128 | (key >> 7) as u8, (key & 127) as u8];
    let cells: Vec<Vec<u8>> = (1..=rows).map(|row| [&length[..], &key(row), &rest].concat()).collect();
    let leaves = cells.chunks((PAGE - 8) / (cells[0].len() + 2));
    let (first, per_leaf) = (file.len() / PAGE + 1, leaves.clone().next().unwrap().len() as u16);
    for leaf in leaves.clone() {
        file.extend(page_of(&[13], leaf));
    }
    let children: Vec<Vec<u8>> = (0..leaves.len() as u16 - 1)
        .map(|leaf| [&(first as u32 + u32::from(leaf)).to_be_bytes()[..], &key((leaf + 1) * per_leaf)].concat())
        .collect();
    let last = (first as u32 + leaves.len() as u32 - 1).to_be_bytes();
    file[(root - 1) * PAGE..root * PAGE].copy_from_slice(&page_of(&[&[5][..], &last].concat(), &children));
    let pages = u32::try_from(file.len() / PAGE).unwrap();
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(path, file).unwrap();
}

/// A page of a table: its kind, the last child of an inner page, and its cells.
fn page_of(head: &[u8], cells: &[Vec<u8>]) -> Vec<u8> {
    let mut page = [&head[..1], &[0; 7], &head[1..]].concat();
    let mut end = PAGE;
    for cell in cells {
        end -= cell.len();
        page.extend((end as u16).to_be_bytes());
    }
    page[3..5].copy_from_slice(&(cells.len() as u16).to_be_bytes());
    page[5..7].copy_from_slice(&(end as u16).to_be_bytes());
    assert!(page.len() <= end, "the cells fit");
    page.resize(end, 0);
    page.extend(cells.iter().rev().flatten());
    page
}

#[test]
fn a_name_is_kept_however_many_shapes_and_streams_have_it() {
    let launches = "UPDATE StringIds SET value = printf('%.*c', 1353, 'k') WHERE id = 1;
        DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000 + 10 * i, 1005 + 10 * i, 0, 1, i % 7, i, 42 << 24, 1, 2, 32, i,
            1, 1, 1, 1, 1, 0, 0, NULL FROM n;";
    let trace = read_sql(&[CORE, launches]).unwrap();
    assert_eq!(codes(&trace), [""; 0]);
    assert!(kernels(&trace).iter().all(|kernel| kernel.2.len() == 1353));
    assert_eq!(trace.works.all().len(), 3000);
}

#[test]
fn a_profile_keeps_the_name_of_many_kernels_and_ranges() {
    let profile = "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE Version (version INTEGER);
        INSERT INTO StringTable VALUES (1, printf('%.*c', 1353, 'k')), (2, printf('%.*c', 1353, 'r'));
        CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, streamId, name, gridX);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (flags, timestamp, id, name);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SELECT 10 * i, 10 * i + 5, 0, i, 1, i FROM n;
        INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT 2, start, streamId, 2 FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT 4, end, streamId, 0 FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;";
    let trace = read_profile(&Folder::new().database("capture.prof", &[profile])).unwrap();
    assert_eq!(codes(&trace), [""; 0]);
    assert_eq!((kernels(&trace).len(), trace.ranges.len(), trace.labels.all().len()), (3000, 3000, 1));
    assert!(kernels(&trace).iter().all(|kernel| kernel.2.len() == 1353));
    assert_eq!(trace.names.text(trace.labels.all()[0].name).len(), 1353);
}

/// An export in which many messages share a long text.
fn with_shared_messages(folder: &Folder, rows: u16) -> PathBuf {
    let message = format!(
        "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, text TEXT);
        INSERT INTO DIAGNOSTIC_EVENT VALUES (1, printf('%.*c', {LONG}, 'm'));"
    );
    let path = folder.database("capture.sqlite", &[CORE, &message]);
    repeat_row(&path, "DIAGNOSTIC_EVENT", rows);
    path
}

#[test]
fn messages_with_the_same_pages_are_limited() {
    let folder = Folder::new();
    let path = with_shared_messages(&folder, 1000);
    let most = 2 * fs::metadata(&path).unwrap().len() as usize / LONG;
    let trace = read(&path).unwrap();
    assert_eq!(codes(&trace), ["rows_lost"]);
    let expected = format!("DIAGNOSTIC_EVENT, after {most} rows: more text than the size of the file allows");
    assert!(trace.warnings[0].evidence.ends_with(&expected), "{}", trace.warnings[0].evidence);
}

#[test]
fn columns_of_numbers_with_long_texts_are_limited() {
    for (name, value) in [("text", format!("printf('%.*c', {LONG}, 't')")), ("bytes", format!("zeroblob({LONG})"))] {
        let kernel = format!(
            "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId) VALUES (1, {value}, 0);"
        );
        let folder = Folder::new();
        let path = folder.database(name, &[CORE, &kernel]);
        repeat_row(&path, "CUPTI_ACTIVITY_KIND_KERNEL", 1000);
        let trace = read(&path).unwrap();
        assert_eq!(codes(&trace)[0], "rows_lost", "{name}");
        assert!(trace.captures[0].events_skipped < 20, "{name}: {}", trace.captures[0].events_skipped);
    }
}

#[test]
fn an_interruption_is_looked_for_by_the_length_of_texts() {
    let folder = Folder::new();
    let path = with_shared_messages(&folder, 1000);
    // A larger file may have more text: 128 MB here.
    let mut file = fs::read(&path).unwrap();
    file.resize(64 << 20, 1);
    let pages = u32::try_from(file.len() / PAGE).unwrap();
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(&path, file).unwrap();
    let asked = Cell::new(0);
    let ask = || {
        asked.set(asked.get() + 1);
        false
    };
    let database = Database::open(&path).unwrap();
    let table = database.table("DIAGNOSTIC_EVENT").unwrap();
    Progress::new(&path, named(&path), &database, &ask).each(&database, table, &["text"], |_| ()).unwrap();
    assert!((3..10).contains(&asked.get()), "{}", asked.get());
}

#[test]
fn a_table_has_no_statement_that_is_megabytes_long() {
    let table = |length: usize| format!("CREATE TABLE other (a /* {} */)", " ".repeat(length));
    assert_eq!(read_sql(&[CORE, &table(1_000_000)]).unwrap().kernels.len(), 2);
    let (reason, _) = refusal(read_sql(&[CORE, &table(2_000_000)]));
    assert_eq!(reason, "SQLite cannot read the file: string or blob too big");
}

#[test]
fn a_device_has_no_name_that_is_a_megabyte_long() {
    for (length, expected) in [(200, Some(200)), (1_000_000, None)] {
        let long = format!("UPDATE TARGET_INFO_GPU SET name = printf('%.*c', {length}, 'g')");
        let trace = read_sql(&[CORE, &long]).unwrap();
        assert_eq!(trace.devices[0].name.as_ref().map(String::len), expected);

        let profile = format!(
            "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE Version (version INTEGER);
            INSERT INTO StringTable VALUES (1, printf('%.*c', {length}, 'g'));
            CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId, name);
            INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 2, 0, 1), (3, 4, 1, 1);
            CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (id, name);
            INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES (0, 1), (1, 1), ('x', 1);"
        );
        let trace = read_profile(&Folder::new().database("capture.prof", &[&profile])).unwrap();
        let names = trace.devices.iter().map(|device| device.name.as_ref().map(String::len));
        assert_eq!(names.collect::<Vec<_>>(), [expected; 2]);
    }
}

#[test]
fn long_texts_beside_the_name_of_a_version_are_passed_over() {
    let metadata = "CREATE TABLE META_DATA_EXPORT (name, value);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', printf('%.*c', 1000000, 'v')),
            (printf('%.*c', 1000000, 'n'), '1'), ('EXPORT_SCHEMA_VERSION', '3.20.1');
        CREATE TABLE TARGET_INFO_SYSTEM_ENV (name, value);
        INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', printf('%.*c', 1000000, 'v')), ('Hostname', 'node7');";
    let trace = read_sql(&[CORE, metadata]).unwrap();
    assert_eq!(trace.captures[0].format_version.as_deref(), Some("3.20.1"));
    assert_eq!(trace.captures[0].environment.host_name.as_deref(), Some("node7"));
}

/// Reads a profile of nvprof.
fn read_profile(path: &Path) -> Result<Trace, Error> {
    let mut trace = Trace::default();
    crate::trace::readers::read(path, "capture.prof", &mut trace, &|| false).map(|()| trace)
}

#[test]
fn texts_with_the_same_pages_are_limited() {
    let one = format!("DELETE FROM StringIds; INSERT INTO StringIds VALUES (1, printf('%.*c', {LONG}, 'k'));
        DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 10 * i, 10 * i + 5, 0, 1, 7, i, 42 << 24, i, NULL, 32, 1, 1, 1, 1, 1,
            1, 0, 0, NULL FROM n;");
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE, &one]);
    repeat_row(&path, "StringIds", 1000);
    let most = 2 * fs::metadata(&path).unwrap().len() as usize / LONG;
    let trace = read(&path).unwrap();
    let shown = kernels(&trace).iter().filter(|kernel| kernel.2.len() == LONG).count();
    assert!((1..=most).contains(&shown), "{shown} of at most {most}");
    assert_eq!(codes(&trace), ["names_missing"]);
    assert!(trace.warnings[0].message.starts_with(&format!("{} names", 1000 - shown)), "{}", trace.warnings[0].message);
}
