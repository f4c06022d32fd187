//! Meaning of the numbers in rows.

use rustc_hash::FxHashMap;

use super::Database;
use super::Strings;
use crate::trace::readers::sqlite::database::{LONGEST_NAME, checked};
use crate::trace::readers::sqlite::numbers::{NONE, known};
use crate::trace::readers::times::plausible;
use crate::trace::{NameId, Queue, Trace};

/// Far more devices than any machine has.
const MOST: usize = 1 << 10;

/// A number of 32 bits without a sign, which is stored as if it had one.
pub(super) fn unsigned(number: i64) -> i64 {
    i32::try_from(number).map_or(number, |number| i64::from(number.cast_unsigned()))
}

/// Returns the number that joins a call with its activities; 0 if unknown.
pub(super) fn correlation(number: i64) -> u64 {
    u64::try_from(unsigned(number)).unwrap_or(0)
}

/// Returns the place of a text in the table of texts: the first entry means no text.
pub(super) fn text(number: i64) -> Option<i64> {
    known(number).filter(|&number| number != 0)
}

/// Places of devices and their streams in a trace. Rows of devices do not record their process.
pub(super) struct Queues {
    clock: u32,
    places: FxHashMap<i64, u32>,
}

impl Queues {
    pub(super) fn new(clock: u32) -> Self {
        Self { clock, places: FxHashMap::default() }
    }

    /// The queue of an operation, or why it has none.
    pub(super) fn of(&mut self, trace: &mut Trace, device: i64, stream: i64) -> Result<Queue, &'static str> {
        let place = match self.places.get(&device) {
            Some(&place) => place,
            None if self.places.len() == MOST => return Err("too many devices"),
            None => {
                let place = trace.device(self.clock, None, known(device));
                self.places.insert(device, place);
                place
            }
        };
        Ok(Queue { device: place, stream: known(stream).filter(|&stream| stream != -1).map(unsigned) })
    }

    /// Gives the devices their names, as far as the profile has them.
    pub(super) fn describe(&self, database: &Database, strings: &mut Strings<'_>, trace: &mut Trace) {
        for (device, name) in names(database) {
            if let (Some(&place), Some(name)) = (self.places.get(&device), text(name)) {
                let name: NameId = strings.intern(name, &mut trace.names);
                let name = Some(trace.names.text(name)).filter(|name| name.len() <= LONGEST_NAME).map(str::to_owned);
                if let Some(device) = trace.devices.get_mut(place as usize) {
                    device.name = name;
                }
            }
        }
    }
}

/// The numbers of devices and those of their names.
fn names(database: &Database) -> Vec<(i64, i64)> {
    let table = "CUPTI_ACTIVITY_KIND_DEVICE";
    let Some(found) = database.table(table) else { return Vec::new() };
    if !found.has("id") || !found.has("name") {
        return Vec::new();
    }
    let are_numbers = "typeof(id) = 'integer' AND typeof(name) = 'integer'";
    let sql = format!("SELECT id, name FROM {table} WHERE {are_numbers} LIMIT {MOST}");
    let Ok(mut statement) = database.prepare(&sql) else { return Vec::new() };
    let rows = checked(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))));
    rows.map(|rows| rows.flat_map(checked).collect()).unwrap_or_default()
}

/// Returns the times of a device operation, or the reason why they are unknown.
pub(super) fn times(start: i64, end: i64) -> Result<(i64, i64), &'static str> {
    match (start, end) {
        (NONE, _) | (_, NONE) => Err("no start or no end"),
        (0, _) => Err("no start: the buffer of the device was full"),
        (start, end) if end <= start => Err("an end that is not after the start"),
        (start, end) => plausible(start, end),
    }
}
