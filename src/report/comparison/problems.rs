//! What tells rows of one runner and phase apart: the keys in which their problems differ.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::document::Row;

/// For each row ` (hidden_size 64, seq_length 128)` where its runner and phase stand in other rows too, else nothing.
///
/// Only keys that differ among those rows are named, in the order of the problem.
pub(super) fn distinctions(rows: &[Row]) -> Vec<String> {
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        alike.entry(row.name()).or_default().push(index);
    }
    let mut found = vec![String::new(); rows.len()];
    for indices in alike.values() {
        let family = || indices.iter().filter_map(|&index| rows.get(index));
        let keys = differing(family());
        for (&index, row) in indices.iter().zip(family()) {
            if let Some(place) = found.get_mut(index) {
                *place = distinction(row, &keys);
            }
        }
    }
    found
}

/// The keys whose values are not the same in all of the rows.
fn differing<'a>(mut rows: impl Iterator<Item = &'a Row>) -> HashSet<&'a str> {
    let Some(first) = rows.next() else {
        return HashSet::new();
    };
    rows.flat_map(|row| {
        let keys = first.problem.iter().chain(&row.problem).flat_map(Map::keys);
        keys.filter(|key| value(row, key) != value(first, key)).map(String::as_str)
    })
    .collect()
}

fn distinction(row: &Row, keys: &HashSet<&str>) -> String {
    let own = row.problem.iter().flatten().filter(|(key, _)| keys.contains(key.as_str()));
    let pairs: Vec<String> = own.map(|(key, value)| format!("{key} {}", shown(value))).collect();
    if pairs.is_empty() { String::new() } else { format!(" ({})", pairs.join(", ")) }
}

/// What is not there is as good as null.
fn value<'a>(row: &'a Row, key: &str) -> &'a Value {
    row.problem.as_ref().and_then(|problem| problem.get(key)).unwrap_or(&Value::Null)
}

/// As the command line takes it, which finds a row by this name.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
