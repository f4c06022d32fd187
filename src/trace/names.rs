//! Every distinct text of a trace once, under a small number.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::distinct::Distinct;
use crate::memory;

/// A text of a [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NameId(u32);

impl NameId {
    /// Returns its place among all names.
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

/// Texts, each once.
#[derive(Debug, Default)]
pub struct Names(Distinct<Arc<str>>);

impl Names {
    /// The number of `text`, which it keeps for good.
    ///
    /// # Panics
    /// After 2³² distinct texts, which no memory holds.
    pub fn intern(&mut self, text: &str) -> NameId {
        // Only a new one is copied.
        NameId(self.0.find(text).unwrap_or_else(|| {
            memory::check();
            self.0.intern(text.into())
        }))
    }

    /// Returns true without names.
    pub fn is_empty(&self) -> bool {
        self.0.all().is_empty()
    }

    /// All texts, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.0.all().iter().map(AsRef::as_ref)
    }

    /// The text of a number, without a copy.
    pub fn shared(&self, id: NameId) -> Arc<str> {
        Arc::clone(&self.0.all()[id.place()])
    }

    /// Keeps `text`, and returns what all equal texts share: many rows may have one text of a megabyte.
    pub fn share(&mut self, text: &str) -> Arc<str> {
        let id = self.intern(text);
        self.shared(id)
    }

    /// The text of a number.
    pub fn text(&self, id: NameId) -> &str {
        &self.0.all()[id.place()]
    }
}
