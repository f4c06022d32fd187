//! The names of kernels, which are the linker's.

use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions};
use rustc_hash::FxHashMap;

use crate::trace::{KernelName, NameId, Names};

/// Longest name that is read, and longest demangled text: short names can expand to gigabytes.
const LONGEST: usize = 1 << 16;

/// Most demangled text of a capture. Further names stay as they are.
const MOST: usize = 1 << 25;

/// The names of kernels, each demangled once.
#[derive(Debug, Default)]
pub(super) struct KernelNames {
    known: FxHashMap<NameId, KernelName>,
    /// Bytes of demangled text, with those that were thrown away.
    written: usize,
}

impl KernelNames {
    /// The names of a kernel that the profile calls `raw`.
    pub(super) fn of(&mut self, raw: NameId, names: &mut Names) -> KernelName {
        let Self { known, written } = self;
        *known.entry(raw).or_insert_with(|| match demangle(names.text(raw), written) {
            Some(full) => KernelName { full: names.intern(&full), short: None, mangled: Some(raw) },
            None => KernelName { full: raw, short: None, mangled: None },
        })
    }
}

/// Demangles a linker name; `None` for any other, for one that cannot be demangled, and once too much is `written`.
fn demangle(raw: &str, written: &mut usize) -> Option<String> {
    if !raw.starts_with("_Z") || raw.len() > LONGEST || *written > MOST {
        return None;
    }
    let (symbol, rest) = BorrowedSymbol::with_tail(raw.as_bytes()).ok()?;
    let mut full = Bounded(String::new());
    let outcome = symbol.structured_demangle(&mut full, &DemangleOptions::new());
    *written += full.0.len();
    outcome.ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A name whose template arguments double in length eleven times.
    fn doubled(number: u32) -> String {
        let arguments: Vec<String> = "123456789AB".chars().map(|one| format!("S0_IS{one}_S{one}_E")).collect();
        format!("_Z7f{number:06}1A1PIS_S_E{}", arguments.concat())
    }

    #[test]
    fn the_text_of_all_names_is_bounded() {
        let mut kernels = KernelNames { written: MOST - 100_000, ..KernelNames::default() };
        let mut names = Names::default();
        let mut lengths = Vec::new();
        for number in 0..20 {
            let raw = names.intern(&doubled(number));
            let name = kernels.of(raw, &mut names);
            lengths.push(names.text(name.full).len());
            assert_eq!(name.mangled.is_some(), name.full != raw);
        }
        assert!(lengths[0] > 10_000, "the first name is demangled");
        assert!(lengths[19] < 200, "the last name stays as it is");
        assert!(lengths.iter().sum::<usize>() < 100_000 + LONGEST + 20 * 200);
    }
}
