//! Words that the program itself knows, read back from bytes: names of formats, codes of warnings.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::{Deserialize, Deserializer, Error};

/// A word that stands in the program.
pub(super) type Word = &'static str;

/// Far more than there are: what is kept for good must have an end.
const MOST: usize = 1024;
const LONGEST: usize = 64;

/// The word that stands there, kept for good the first time that it comes.
pub(super) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let text = <&str>::deserialize(from)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = known.get(text) {
        return Ok(word);
    }
    if text.len() > LONGEST || known.len() == MOST || !text.bytes().all(plain) {
        return Err(D::Error::custom("a word that no version has"));
    }
    let word = Box::leak(text.to_owned().into_boxed_str());
    known.insert(word);
    Ok(word)
}
