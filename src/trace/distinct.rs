//! Every distinct thing once, under a small number.

use std::borrow::Borrow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::memory::Room as _;

/// Things, each once, numbered from 0 in the order in which they came.
#[derive(Debug)]
pub struct Distinct<T> {
    ids: FxHashMap<T, u32>,
    all: Vec<T>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { ids: FxHashMap::default(), all: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    /// The number of `thing`.
    ///
    /// # Panics
    /// After 2³² distinct things, which no memory holds.
    pub fn intern(&mut self, thing: T) -> u32 {
        if let Some(&id) = self.ids.get(&thing) {
            return id;
        }
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 distinct things");
        self.all.room(1);
        self.ids.room(1);
        self.all.push(thing.clone());
        self.ids.insert(thing, id);
        id
    }

    /// All of these; `None` where one is there twice.
    pub(super) fn of(things: Vec<T>) -> Option<Self> {
        let mut distinct = Self::default();
        (0..).zip(things).all(|(place, thing)| distinct.intern(thing) == place).then_some(distinct)
    }

    /// The number of `thing`, if it is known.
    pub fn find<Q: Eq + Hash + ?Sized>(&self, thing: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        self.ids.get(thing).copied()
    }

    /// All of them; a number is a place here.
    pub fn all(&self) -> &[T] {
        &self.all
    }
}
