//! An SQLite file that is not trusted.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Statement, ffi};
use rustc_hash::FxHashMap;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::pages::{Pages, Place};
use super::step_limit::StepLimit;
use super::{MAGIC, Refusal};
use crate::memory;
use crate::trace::Warning;

/// Longest text or row that is loaded. Names of kernels have up to some kilobytes.
const LONGEST: i32 = 16 << 20;
/// Longest row of the list of tables, with the statement that made the table. SQLite parses them all when it opens a file.
const LONGEST_ENTRY: i32 = 1 << 20;
/// Longest name of a device that is read, in bytes. Each of thousands of devices has a copy.
pub(in crate::trace::readers) const LONGEST_NAME: usize = 256;
const HEADER: usize = 100;
/// Prefix of tables of activities, and the table of ranges in exports.
const ACTIVITIES: &str = "CUPTI_ACTIVITY_KIND_";
const RANGES: &str = "NVTX_EVENTS";
const ITSELF: &str = "Unpack the file, and use the database in it.";
const AGAIN: &str = "Copy or export the file again: nsys export --type sqlite --output FILE REPORT";
/// Least number of bytes of an entry in the list of tables, without its name.
const SMALLEST_ENTRY: u64 = 5;

/// A column of a table.
#[derive(Debug)]
pub(in crate::trace::readers) struct Column {
    pub(in crate::trace::readers) name: String,
    pub(in crate::trace::readers) is_key: bool,
    /// True if its numbers are stored as SQLite returns them: a row's own number is not, and fractions may be stored as whole
    /// numbers.
    pub(in crate::trace::readers) is_stored: bool,
    /// True if it is NULL in rows that are older than it.
    pub(in crate::trace::readers) is_null_at_first: bool,
}

/// A table, no view and no virtual one; columns that the file computes are left out.
#[derive(Debug)]
pub(in crate::trace::readers) struct Table {
    pub(in crate::trace::readers) name: String,
    pub(in crate::trace::readers) columns: Vec<Column>,
    /// The first page, if its rows are stored as `columns` says.
    pub(in crate::trace::readers) root: Option<u32>,
}

impl Table {
    /// Returns true if this is its name: SQLite ignores the case of letters.
    pub(in crate::trace::readers) fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns true if a column with this name exists.
    pub(in crate::trace::readers) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the place of a column's numbers in the rows, if they can be read without SQLite.
    pub(in crate::trace::readers) fn place(&self, name: &str) -> Option<Place> {
        match self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)) {
            None => Some(Place { column: None, null_if_short: true }),
            Some(at) => {
                let column = &self.columns[at];
                column.is_stored.then_some(Place { column: Some(at), null_if_short: column.is_null_at_first })
            }
        }
    }

    /// Returns true if its rows are events: see the part's own description.
    pub(in crate::trace::readers) fn has_events(&self) -> bool {
        kind_of_activities(&self.name).is_some() || self.has("start") || self.has("timestamp")
    }
}

/// An open file.
#[derive(Debug)]
pub(in crate::trace::readers) struct Database {
    connection: Connection,
    limit: StepLimit,
    /// The same file without SQLite, if there is nothing unusual about it.
    pub(in crate::trace::readers) pages: Option<Pages>,
    /// In the order of the file.
    pub(in crate::trace::readers) tables: Vec<Table>,
    /// Names of views and virtual tables with names of tables of events. They are not read, as they could run code.
    pub(in crate::trace::readers) unread: Vec<(String, &'static str)>,
    size_bytes: u64,
    /// Bytes outside holes: what limits are for, since a hole of terabytes costs nothing.
    pub(in crate::trace::readers) stored_bytes: u64,
    /// The bytes that the header promises, where the file has fewer.
    pub(super) promised_bytes: Option<u64>,
}

impl Database {
    /// Opens a file and reads the list of tables.
    pub(in crate::trace::readers) fn open(path: &Path) -> Result<Self, Refusal> {
        let Start { header, size_bytes, stored_bytes } = start(path)?;
        if !header.starts_with(MAGIC) {
            return Err(("the file is not an SQLite database".to_owned(), ITSELF));
        }
        let promised_bytes = promised(&header).filter(|&promised| promised > size_bytes);
        let open = || -> rusqlite::Result<Self> {
            let mut connection = connect(path)?;
            let limit = StepLimit::set(&mut connection, stored_bytes)?;
            configure(&connection, promised_bytes.is_some())?;
            let (tables, unread) = (tables(&connection, stored_bytes)?, unread(&connection, stored_bytes)?);
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
            let pages = Pages::open(path, &header, size_bytes);
            Ok(Self { connection, limit, pages, tables, unread, size_bytes, stored_bytes, promised_bytes })
        };
        let database = checked(open()).map_err(|error| {
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) {
                return endless();
            }
            // It quotes statements of the file, which have lines.
            let words = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("SQLite cannot read the file: {words}"), AGAIN)
        })?;
        // SQLite hides errors in the list of tables of a truncated file.
        database.check()?;
        Ok(database)
    }

    /// Refuses a file in which a statement did not end.
    pub(in crate::trace::readers) fn check(&self) -> Result<(), Refusal> {
        if self.limit.is_exceeded() { Err(endless()) } else { Ok(()) }
    }

    /// Allows SQLite as many steps again as a row or a short statement may take.
    pub(in crate::trace::readers) fn start(&self) {
        self.limit.start();
    }

    /// Number of bytes of text that a file of this size can hold. Texts that share pages hold more. Those in UTF-16 grow by
    /// half when they are read.
    pub(in crate::trace::readers) fn most_text(&self) -> u64 {
        self.stored_bytes.saturating_mul(2)
    }

    /// A table, if the file has it.
    pub(in crate::trace::readers) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.is_named(name))
    }

    /// A statement. Everything that the text takes from the file must be quoted.
    pub(in crate::trace::readers) fn prepare(&self, sql: &str) -> rusqlite::Result<Statement<'_>> {
        self.start();
        checked(self.connection.prepare(sql))
    }

    /// Returns the warnings about the file as a whole, which they call `shown`.
    pub(super) fn warnings(&self, path: &Path, shown: &str) -> Vec<Warning> {
        let cut_short = self.promised_bytes.map(|promised| Warning {
            code: "file_cut_short",
            message: "data after the end of the file are missing".to_owned(),
            evidence: format!("{shown}: {} of {promised} bytes", self.size_bytes),
            hint: AGAIN.to_owned(),
        });
        // SQLite puts them beside the file, not beside a link to it.
        let place = if path.is_symlink() { fs::canonicalize(path).ok() } else { None };
        let place = place.as_deref().unwrap_or(path);
        let journals = ["-wal", "-journal"].into_iter().filter_map(|suffix| {
            let mut journal = place.as_os_str().to_owned();
            journal.push(suffix);
            let journal = PathBuf::from(journal);
            fs::metadata(&journal).is_ok_and(|data| data.len() > 0).then(|| Warning {
                code: "unfinished_write",
                message: "recent rows may be missing, because a journal was not read".to_owned(),
                evidence: format!("{shown}: {}", journal.display()),
                hint: "End the program that writes the file, or export it again: nsys export --type sqlite --output FILE REPORT".to_owned(),
            })
        });
        cut_short.into_iter().chain(journals).collect()
    }
}

/// Returns SQLite's answer. Lack of memory is no fault of the file: it ends the call.
pub(in crate::trace::readers) fn checked<T>(answer: rusqlite::Result<T>) -> rusqlite::Result<T> {
    let code = answer.as_ref().err().and_then(rusqlite::Error::sqlite_error_code);
    if code == Some(rusqlite::ErrorCode::OutOfMemory) {
        memory::fail(None);
    }
    answer
}

/// Returns the kind of the activities of a table, from its name: `KERNEL` of `CUPTI_ACTIVITY_KIND_KERNEL`.
pub(in crate::trace::readers) fn kind_of_activities(table: &str) -> Option<&str> {
    let (prefix, kind) = table.split_at_checked(ACTIVITIES.len())?;
    prefix.eq_ignore_ascii_case(ACTIVITIES).then_some(kind)
}

/// A name as SQL has it.
pub(in crate::trace::readers) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Facts of a file, before SQLite opens it.
struct Start {
    header: Vec<u8>,
    size_bytes: u64,
    stored_bytes: u64,
}

fn start(path: &Path) -> Result<Start, Refusal> {
    let refuse = |error: std::io::Error| (format!("{error}"), "Use the path of a readable file.");
    let data = fs::metadata(path).map_err(refuse)?;
    if !data.is_file() {
        return Err(("the path is not a file".to_owned(), ITSELF));
    }
    let file = File::open(path).map_err(refuse)?;
    let mut header = Vec::with_capacity(HEADER);
    (&file).take(HEADER as u64).read_to_end(&mut header).map_err(refuse)?;
    let size_bytes = data.len();
    Ok(Start { header, size_bytes, stored_bytes: stored_bytes(&file).unwrap_or(size_bytes) })
}

/// Returns the number of bytes outside the holes of a file; `None` where the file system does not say.
fn stored_bytes(file: &File) -> Option<u64> {
    let (mut stored, mut end) = (0, 0);
    loop {
        let begin = match seek(file, SeekFrom::Data(end)) {
            Ok(begin) => begin,
            // No data follow.
            Err(Errno::NXIO) => return Some(stored),
            Err(_) => return None,
        };
        end = seek(file, SeekFrom::Hole(begin)).ok()?;
        stored += end.checked_sub(begin)?;
    }
}

/// The size that the header gives, where it is to be believed.
fn promised(header: &[u8]) -> Option<u64> {
    let word = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let page = match u16::from_be_bytes(header.get(16..18)?.try_into().ok()?) {
        1 => 65536,
        page => u64::from(page),
    };
    (word(24)? == word(92)?).then_some(u64::from(word(28)?) * page)
}

fn endless() -> Refusal {
    ("the file is damaged: its pages refer to each other without end".to_owned(), AGAIN)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri(path), flags)
}

fn configure(connection: &Connection, is_cut_short: bool) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_ENTRY)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // SQLite refuses a file that is shorter than its header says, but for those who come to repair it. Nothing can be
    // written here in either case.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, !is_cut_short)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, is_cut_short)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Returns the URI of a file; `immutable` keeps SQLite from locks, from journals and from other files in the folder.
fn uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file://");
    for &byte in absolute.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}

fn tables(connection: &Connection, stored_bytes: u64) -> rusqlite::Result<Vec<Table>> {
    // Virtual tables have no root page.
    let sql = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut fits = entries_fit(stored_bytes);
    let found = found.map(|entry| entry.and_then(|entry: (String, i64)| fits(&entry.0).map(|()| entry)));
    let found: Vec<(String, i64)> = found.collect::<rusqlite::Result<_>>()?;
    // With two tables of one name, the right one is unknown.
    let mut times_named = FxHashMap::default();
    for (name, _) in &found {
        *times_named.entry(name.to_ascii_lowercase()).or_insert(0) += 1;
    }
    let mut tables = Vec::with_capacity(found.len());
    for (name, root) in &found {
        let mut columns = Vec::new();
        connection.pragma(None, "table_info", name, |row| {
            let key: i64 = row.get("pk")?;
            let default = row.get_ref("dflt_value")?;
            let is_null_at_first = default == ValueRef::Null;
            let is_stored = key == 0 && !holds_fractions(&row.get::<_, String>("type")?);
            columns.push(Column { name: row.get("name")?, is_key: key == 1, is_stored, is_null_at_first });
            Ok(())
        })?;
        let mut all = 0;
        connection.pragma(None, "table_xinfo", name, |_| {
            all += 1;
            Ok(())
        })?;
        // Computed columns are listed only among all, and some of them are stored.
        let is_plain = all == columns.len() && times_named.get(&name.to_ascii_lowercase()) == Some(&1);
        let root = u32::try_from(*root).ok().filter(|_| is_plain);
        tables.push(Table { name: name.clone(), columns, root });
    }
    Ok(tables)
}

/// Returns views and virtual tables that stand for tables of events, by name and reason.
fn unread(connection: &Connection, stored_bytes: u64) -> rusqlite::Result<Vec<(String, &'static str)>> {
    let sql = "SELECT name, type = 'view' FROM sqlite_master
        WHERE type = 'view' OR type = 'table' AND ifnull(rootpage, 0) <= 0";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?;
    let is_wanted = |name: &str| kind_of_activities(name).is_some() || name.eq_ignore_ascii_case(RANGES);
    let why = |is_view| if is_view { "a view is not read" } else { "a virtual table is not read" };
    let found = found.filter_map(|row| checked(row).ok().filter(|(name, _)| is_wanted(name)));
    let mut fits = entries_fit(stored_bytes);
    found.map(|(name, is_view)| fits(&name).map(|()| (name, why(is_view)))).collect()
}

/// Returns a function that fails once the names of all entries are longer than so many stored bytes can hold. Entries may share
/// pages.
fn entries_fit(stored_bytes: u64) -> impl FnMut(&str) -> rusqlite::Result<()> {
    // Names in UTF-16 grow by half when they are read.
    let mut left = stored_bytes.saturating_mul(2);
    move |name| {
        let needed = SMALLEST_ENTRY + name.len() as u64;
        left = left
            .checked_sub(needed)
            .ok_or_else(|| rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None))?;
        Ok(())
    }
}

/// Returns true if numbers of a column of this type are fractions, by SQLite's rules of types. Those that other rules precede
/// are taken for fractions as well.
fn holds_fractions(kind: &str) -> bool {
    let kind = kind.to_ascii_uppercase();
    ["REAL", "FLOA", "DOUB"].iter().any(|part| kind.contains(part))
}
