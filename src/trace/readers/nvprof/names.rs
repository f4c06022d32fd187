//! The names of kernels, which are the linker's.

use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions};
use rustc_hash::FxHashMap;

use crate::trace::{KernelName, NameId, Names};

/// Longest name that is read, and longest demangled text: short names can expand to gigabytes.
const LONGEST: usize = 1 << 16;

/// The names of kernels, each demangled once.
#[derive(Debug, Default)]
pub(super) struct KernelNames(FxHashMap<NameId, KernelName>);

impl KernelNames {
    /// The names of a kernel that the profile calls `raw`.
    pub(super) fn of(&mut self, raw: NameId, names: &mut Names) -> KernelName {
        *self.0.entry(raw).or_insert_with(|| match demangle(names.text(raw)) {
            Some(full) => KernelName { full: names.intern(&full), short: None, mangled: Some(raw) },
            None => KernelName { full: raw, short: None, mangled: None },
        })
    }
}

/// Demangles a linker name; `None` for any other, and for one that cannot be demangled.
pub(super) fn demangle(raw: &str) -> Option<String> {
    if !raw.starts_with("_Z") || raw.len() > LONGEST {
        return None;
    }
    let (symbol, rest) = BorrowedSymbol::with_tail(raw.as_bytes()).ok()?;
    let mut full = Bounded(String::new());
    symbol.structured_demangle(&mut full, &DemangleOptions::new()).ok()?;
    // What compilers add to the name of a variant begins with a point.
    match rest {
        [] => Some(full.0),
        [b'.', ..] => Some(format!("{} [clone {}]", full.0, String::from_utf8_lossy(rest))),
        _ => None,
    }
}

/// A text that ends when it grows too long.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}
