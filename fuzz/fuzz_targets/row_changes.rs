//! Changes of a database by SQLite itself: of changed bytes, most are not read beyond the pages.

use fastrand::Rng;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Result, params_from_iter};

/// Texts that a reader of captures knows.
const WORDS: [&str; 8] = ["cudnn/forward/3", "cudnn/backward/3", "k", "_Z1kv", "aten::mm, seq = 1", "Graph", "18", ""];
/// Bytes of a value: a column may be computed.
const LONGEST: i32 = 1 << 16;
/// Instructions of SQLite, after which a statement ends.
const MOST_STEPS: i32 = 100_000;

/// The file with rows or tables changed, repeated or removed; None if SQLite does not read it.
pub(crate) fn changed(file: &[u8], dice: &mut Rng) -> Option<Vec<u8>> {
    let mut database = open(file).ok()?;
    for _ in 0..dice.usize(1..4) {
        change(&database, dice).ok()?;
    }
    Some(database.serialize("main").ok()?.to_vec())
}

/// The file with rows of another file, and their table where it has none.
pub(crate) fn crossed(file: &[u8], other: &[u8], dice: &mut Rng) -> Option<Vec<u8>> {
    let (mut database, other) = (open(file).ok()?, open(other).ok()?);
    copy(&database, &other, dice).ok()?;
    Some(database.serialize("main").ok()?.to_vec())
}

fn open(file: &[u8]) -> Result<Connection> {
    let mut database = Connection::open_in_memory()?;
    // No statement of the file runs.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    database.progress_handler(MOST_STEPS, Some(|| true))?;
    database.deserialize_read_exact("main", file, file.len(), false)?;
    Ok(database)
}

fn change(database: &Connection, dice: &mut Rng) -> Result<()> {
    let Some((table, column)) = column(database, dice)? else { return Ok(()) };
    let row = format!("(SELECT rowid FROM {table} LIMIT 1 OFFSET {})", dice.usize(..rows(database, &table)?.max(1)));
    let number = [-1_i64, 1, 7, 1000, -1000, 1 << 24, 1 << 40][dice.usize(..7)];
    let statement = match dice.u8(..10) {
        0 => format!("INSERT INTO {table} SELECT * FROM {table} WHERE rowid = {row}"),
        1 => format!("DELETE FROM {table} WHERE rowid = {row}"),
        2 => format!("UPDATE {table} SET {column} = {column} + {number}"),
        3 | 4 => format!("UPDATE {table} SET {column} = {column} + {number} WHERE rowid = {row}"),
        5 if dice.u8(..4) == 0 => format!("DROP TABLE {table}"),
        5 => format!("ALTER TABLE {table} DROP COLUMN {column}"),
        _ => {
            let value = value(database, &table, &column, dice)?;
            database.execute(&format!("UPDATE {table} SET {column} = ?1 WHERE rowid = {row}"), [value])?;
            return Ok(());
        }
    };
    database.execute_batch(&statement)
}

/// A value of the column, of another column, or made up.
fn value(database: &Connection, table: &str, column: &str, dice: &mut Rng) -> Result<Value> {
    let found = match dice.u8(..4) {
        0 => return Ok(Value::Text(WORDS[dice.usize(..WORDS.len())].to_owned())),
        1 => return Ok(if dice.bool() { Value::Integer(dice.i64(-2..100)) } else { Value::Null }),
        2 => self::column(database, dice)?,
        _ => Some((table.to_owned(), column.to_owned())),
    };
    let Some((table, column)) = found else { return Ok(Value::Null) };
    let place = dice.usize(..rows(database, &table)?.max(1));
    let query = format!("SELECT {column} FROM {table} LIMIT 1 OFFSET {place}");
    Ok(database.query_row(&query, [], |row| row.get(0)).optional()?.unwrap_or(Value::Null))
}

fn copy(database: &Connection, other: &Connection, dice: &mut Rng) -> Result<()> {
    let Some((table, _)) = column(other, dice)? else { return Ok(()) };
    let query = "SELECT sql FROM sqlite_master WHERE type = 'table' AND '\"' || name || '\"' = ?1";
    let sql: String = other.query_row(query, [&table], |row| row.get(0))?;
    let is_new = database.query_row(query, [&table], |_| Ok(())).optional()?.is_none();
    if is_new {
        database.execute_batch(&sql)?;
    }
    let (from, most) = (dice.usize(..rows(other, &table)?.max(1)), if is_new { 20 } else { dice.usize(1..4) });
    let mut read = other.prepare(&format!("SELECT * FROM {table} LIMIT {most} OFFSET {from}"))?;
    let names: Vec<String> = read.column_names().map(quoted).collect();
    let places = vec!["?"; names.len()].join(", ");
    let mut write = database.prepare(&format!("INSERT INTO {table} ({}) VALUES ({places})", names.join(", ")))?;
    let mut found = read.query([])?;
    while let Some(row) = found.next()? {
        let values = (0..names.len()).map(|place| row.get(place)).collect::<Result<Vec<Value>>>()?;
        write.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// A table and one of its columns, quoted.
fn column(database: &Connection, dice: &mut Rng) -> Result<Option<(String, String)>> {
    let query = "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'";
    let mut statement = database.prepare(query)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found = found.collect::<Result<Vec<(String, String)>>>()?;
    Ok(found.get(dice.usize(..found.len().max(1))).map(|(table, column)| (quoted(table), quoted(column))))
}

fn rows(database: &Connection, table: &str) -> Result<usize> {
    let found: u32 = database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
    Ok(found as usize)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
