//! What is no export, and paths that look like something else.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn refuses_what_is_no_export() {
    let (reason, _) = refusal(read_sql(&["CREATE TABLE t (x)"]));
    assert!(reason.contains("no export of Nsight Systems"), "{reason}");
    let (reason, hint) = refusal(read_sql(&["
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE META_DATA_EXPORT (name, value);"]));
    assert!(reason.contains("has failed") && hint.contains("the version of nsys"), "{reason}");
}

#[test]
fn refuses_what_is_no_database() {
    let folder = Folder::new();
    let path = folder.0.join("capture.sqlite");
    let (reason, _) = refusal(read(&path));
    assert!(reason.contains("cannot be read"), "{reason}");
    for content in [&b""[..], b"SQLite", b"{\"traceEvents\": []}"] {
        fs::write(&path, content).unwrap();
        let (reason, _) = refusal(read(&path));
        assert_eq!(reason, "is not an SQLite database");
    }
    for length in [16, 99, 100, 4096] {
        let mut content = b"SQLite format 3\0".to_vec();
        content.resize(length, 0xff);
        fs::write(&path, content).unwrap();
        let (reason, _) = refusal(read(&path));
        assert!(reason.contains("SQLite cannot read it"), "{reason}");
    }
    assert_eq!(refusal(read(&folder.0)).0, "is not a file");
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

#[test]
fn takes_every_path_as_it_is() {
    let folder = Folder::new();
    let plain = folder.database("plain", &[CORE]);
    for name in ["with space", "a?mode=rwc", "a#b", "50%25", "ünï", "a&b=c;d", "-wal"] {
        let path = folder.0.join(name);
        fs::copy(&plain, &path).unwrap();
        assert_eq!(read(&path).unwrap().kernels.len(), 2, "{name}");
        assert_eq!(read(&path).unwrap().captures[0].path, path.display().to_string());
    }
    let doubled = PathBuf::from(format!("/{}", plain.display()));
    assert_eq!(read(&doubled).unwrap().kernels.len(), 2);
    let link = folder.0.join("link");
    symlink(&plain, &link).unwrap();
    assert_eq!(read(&link).unwrap().kernels.len(), 2);
}

#[test]
fn writes_nothing_and_leaves_journals_alone() {
    let folder = Folder::new();
    let path = folder.0.join("capture.sqlite");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    writer.execute_batch(CORE).unwrap();
    writer.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    writer.execute_batch("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId) VALUES (1, 2, 0)").unwrap();
    let files = || {
        let mut files: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = files();
    let trace = read(&path).unwrap();
    assert_eq!(trace.kernels.len(), 2);
    assert_eq!(codes(&trace), ["unfinished_write"]);
    assert_eq!(files(), before);

    fs::write(folder.0.join("capture.sqlite-journal"), [0xd9, 0xd5, 0x05, 0xf9]).unwrap();
    assert_eq!(codes(&read(&path).unwrap()), ["unfinished_write", "unfinished_write"]);
}

#[test]
fn stops_when_asked_to() {
    let folder = Folder::new();
    let path = folder.database("capture.sqlite", &[CORE]);
    let stopped = crate::trace::readers::nsys_sqlite::read_file(&path, named(&path), &mut Trace::default(), &|| true);
    assert_eq!(stopped, Err(Error::Interrupted));
}
