//! The table that holds every text of a database once.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};
use rustc_hash::FxHashMap;

use super::database::{Database, checked};
use crate::error::{Error, Result};
use crate::memory::Room as _;
use crate::trace::readers::Interrupted;
use crate::trace::{NameId, Names, Warning, counted};

const STRIDE: usize = 1 << 15;

/// Looks texts up, each once.
pub(in crate::trace::readers) struct Strings<'a> {
    database: &'a Database,
    table: &'static str,
    lookup: Option<Statement<'a>>,
    /// Place of each text, if its number is not the table's key: a search would read all of it.
    places: Option<FxHashMap<i64, i64>>,
    /// Number of bytes of text that the file can still hold.
    bytes_left: u64,
    /// Texts that were looked up, by ID: a kernel's name is needed for each of its shapes and streams.
    known: FxHashMap<i64, NameId>,
    /// The smallest ID without a text, and how many there are.
    missing: Option<(i64, u64)>,
}

impl<'a> Strings<'a> {
    pub(in crate::trace::readers) fn open(
        database: &'a Database,
        (table, id): (&'static str, &str),
        interrupted: Interrupted<'_>,
    ) -> Result<Self> {
        let columns = database.table(table).map(|table| table.columns.as_slice()).unwrap_or_default();
        let has_key = columns.iter().any(|column| column.name.eq_ignore_ascii_case(id) && column.is_key);
        let (key, places) =
            if has_key { (id, None) } else { ("_rowid_", Some(places(database, table, id, interrupted)?)) };
        // The length is in the row itself: a text that is too long is never loaded.
        let sql = format!("SELECT value FROM {table} WHERE {key} = ?1 AND octet_length(value) <= ?2");
        let bytes_left = database.most_text();
        let lookup = database.prepare(&sql).ok();
        Ok(Self { database, table, lookup, places, bytes_left, known: FxHashMap::default(), missing: None })
    }

    /// Stores a text. A missing text becomes `[string 7]`.
    pub(in crate::trace::readers) fn intern(&mut self, id: i64, names: &mut Names) -> NameId {
        if let Some(&name) = self.known.get(&id) {
            return name;
        }
        let name = self.find(id, names).unwrap_or_else(|| {
            let (first, count) = self.missing.unwrap_or((id, 0));
            self.missing = Some((first.min(id), count + 1));
            names.intern(&format!("[string {id}]"))
        });
        self.known.put((id, name));
        name
    }

    /// Reads a text from the file.
    fn find(&mut self, id: i64, names: &mut Names) -> Option<NameId> {
        let place = self.places.as_ref().map_or(Some(id), |places| places.get(&id).copied())?;
        let bytes_left = self.bytes_left;
        let keep = |row: &Row<'_>| {
            Ok(match row.get_ref(0)? {
                ValueRef::Text(text) if text.len() as u64 <= bytes_left => {
                    Some((names.intern(&String::from_utf8_lossy(text)), text.len() as u64))
                }
                _ => None,
            })
        };
        self.database.start();
        let most = i64::try_from(bytes_left).unwrap_or(i64::MAX);
        let (name, length) = checked(self.lookup.as_mut()?.query_row([place, most], keep)).ok()??;
        self.bytes_left -= length;
        Some(name)
    }

    /// Says which names are missing, if any are.
    pub(in crate::trace::readers) fn warning(&self, path: &str) -> Option<Warning> {
        let (first, count) = self.missing?;
        Some(Warning {
            code: "names_missing",
            message: format!("{} shown as [string ID], because the text is missing", counted(count, "name")),
            evidence: format!("{path}: no text with ID {first} in {}", self.table),
            hint: "Copy or export the file again: nsys export --type sqlite --output FILE REPORT".to_owned(),
        })
    }
}

/// Returns the places of texts. Unreadable texts are missing.
fn places(database: &Database, table: &str, id: &str, interrupted: Interrupted<'_>) -> Result<FxHashMap<i64, i64>> {
    let mut places: FxHashMap<i64, i64> = FxHashMap::default();
    // Of a long text in place of an ID, only the type is read.
    let id = format!("CASE typeof({id}) WHEN 'integer' THEN {id} END");
    let sql = format!("SELECT {id}, _rowid_ FROM {table} NOT INDEXED");
    let Ok(mut statement) = database.prepare(&sql) else { return Ok(places) };
    let Ok(mut rows) = checked(statement.query([])) else { return Ok(places) };
    let mut seen = 0_usize;
    // A row takes five bytes at least: what comes after so many runs in circles.
    while let Ok(Some(row)) = checked(rows.next()) {
        if seen.is_multiple_of(STRIDE) && interrupted() {
            return Err(Error::Interrupted);
        }
        seen += 1;
        if seen as u64 > database.stored_bytes / 5 {
            break;
        }
        if let (Ok(id), Ok(place)) = (row.get(0), row.get(1)) {
            places.room(1);
            places.entry(id).or_insert(place);
        }
        database.start();
    }
    Ok(places)
}
