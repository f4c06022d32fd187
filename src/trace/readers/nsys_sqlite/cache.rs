//! What a row of numbers is called, looked up once for many like it.

use rustc_hash::FxHashMap;

use super::progress::Numbers;

/// A capture has some hundred distinct rows, times left out. Where no two are alike, remembering them costs only memory.
const MOST: usize = 1 << 16;

/// Numbers of distinct rows.
pub(super) struct Cache<const N: usize> {
    last: Option<(Numbers<N>, u32)>,
    all: FxHashMap<Numbers<N>, u32>,
}

impl<const N: usize> Cache<N> {
    pub(super) fn new() -> Self {
        Self { last: None, all: FxHashMap::default() }
    }

    /// The number of a row, which `find` finds if it is new.
    pub(super) fn get(
        &mut self,
        row: Numbers<N>,
        find: impl FnOnce(Numbers<N>) -> Result<u32, &'static str>,
    ) -> Result<u32, &'static str> {
        if let Some((last, what)) = self.last
            && last == row
        {
            return Ok(what);
        }
        let what = if let Some(&what) = self.all.get(&row) {
            what
        } else {
            let what = find(row)?;
            if self.all.len() >= MOST {
                self.all.clear();
            }
            self.all.insert(row, what);
            what
        };
        self.last = Some((row, what));
        Ok(what)
    }
}
