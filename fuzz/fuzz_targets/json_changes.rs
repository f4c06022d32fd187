//! Changes of a JSON text that leave it one: of changed bytes, most are not read beyond the syntax.

use fastrand::Rng;
use serde_json::{Value, json};

use super::json_notations::noted;

/// Words that a reader of traces knows.
const WORDS: [&str; 12] = [
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "cuda_runtime",
    "cpu_op",
    "user_annotation",
    "gpu_user_annotation",
    "cudaStreamSynchronize",
    "cudaLaunchKernel",
    "ProfilerStep#3",
    "forward",
    "ph",
];

/// The text with a value changed, moved, repeated or removed; None if it is no JSON.
pub(crate) fn changed(text: &[u8], dice: &mut Rng) -> Option<Vec<u8>> {
    let mut whole: Value = serde_json::from_slice(text).ok()?;
    for _ in 0..dice.usize(1..4) {
        let donor = any(&whole, dice)?.1.clone();
        let mut behind = dice.usize(..values(&whole).len());
        let found = nth(&mut whole, &mut behind)?;
        change(found, donor, dice);
    }
    Some(noted(serde_json::to_vec(&whole).ok()?, dice))
}

/// The text with a value replaced by what another text has under the same key; None if there is none.
pub(crate) fn crossed(text: &[u8], other: &[u8], dice: &mut Rng) -> Option<Vec<u8>> {
    let mut whole: Value = serde_json::from_slice(text).ok()?;
    let other: Value = serde_json::from_slice(other).ok()?;
    let (key, donor) = any(&other, dice)?;
    let (key, donor) = (key?, donor.clone());
    let places = named(&mut whole, key);
    let chosen = dice.usize(..places.len().max(1));
    match (places.into_iter().nth(chosen)?, donor) {
        // Events of both: each may mean something for the other.
        (Value::Array(events), Value::Array(more)) if dice.bool() => events.extend(more),
        (place, donor) => *place = donor,
    }
    Some(noted(serde_json::to_vec(&whole).ok()?, dice))
}

fn change(value: &mut Value, donor: Value, dice: &mut Rng) {
    match value {
        _ if dice.u8(..8) == 0 => *value = donor,
        Value::Number(number) => {
            let old = number.as_f64().unwrap_or(0.0);
            let near = [old + 1.0, old - 1.0, -old, old * 1000.0, old / 1000.0, old + 0.001, 0.0, 1e15, 1e300];
            let small = json!(dice.i64(-2..9));
            *value = if dice.bool() { small } else { json!(near[dice.usize(..near.len())]) };
        }
        Value::String(text) if dice.bool() => {
            let other = donor.as_str().unwrap_or(WORDS[dice.usize(..WORDS.len())]).to_owned();
            *text = if dice.bool() { other } else { format!("{text}{other}") };
        }
        Value::String(text) => WORDS[dice.usize(..WORDS.len())].clone_into(text),
        Value::Array(list) if !list.is_empty() => {
            let (from, to) = (dice.usize(..list.len()), dice.usize(..list.len()));
            match dice.u8(..4) {
                0 => list.swap(from, to),
                1 => drop(list.remove(from)),
                _ => list.insert(to, list[from].clone()),
            }
        }
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = &keys[dice.usize(..keys.len())];
            let old = members.remove(key);
            if dice.bool() {
                let word = WORDS[dice.usize(..WORDS.len())].to_owned();
                members.insert(word, old.unwrap_or(donor));
            }
        }
        _ => *value = donor,
    }
}

/// Every value in a value, at any depth, with its key.
fn values(value: &Value) -> Vec<(Option<&str>, &Value)> {
    let mut found = Vec::new();
    let mut left = vec![value];
    while let Some(one) = left.pop() {
        let start = found.len();
        match one {
            Value::Array(list) => found.extend(list.iter().map(|inner| (None, inner))),
            Value::Object(members) => found.extend(members.iter().map(|(key, inner)| (Some(key.as_str()), inner))),
            _ => {}
        }
        left.extend(found[start..].iter().map(|(_, inner)| *inner));
    }
    found
}

fn any<'a>(value: &'a Value, dice: &mut Rng) -> Option<(Option<&'a str>, &'a Value)> {
    let found = values(value);
    found.get(dice.usize(..found.len().max(1))).copied()
}

/// The value behind `n` others, depth first.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    for inner in inner(value) {
        if *n == 0 {
            return Some(inner);
        }
        *n -= 1;
        if let Some(found) = nth(inner, n) {
            return Some(found);
        }
    }
    None
}

fn named<'a>(value: &'a mut Value, key: &str) -> Vec<&'a mut Value> {
    match value {
        Value::Array(list) => list.iter_mut().flat_map(|inner| named(inner, key)).collect(),
        // A replaced value takes the values in it along.
        Value::Object(members) => members
            .iter_mut()
            .flat_map(|(name, inner)| if name == key { vec![inner] } else { named(inner, key) })
            .collect(),
        _ => Vec::new(),
    }
}

fn inner(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(members) => members.iter_mut().map(|(_, inner)| inner).collect(),
        _ => Vec::new(),
    }
}
