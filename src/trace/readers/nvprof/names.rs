//! The names of kernels, which are the linker's.

use std::fmt::{self, Write};
use std::time::Duration;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};
use rustc_hash::FxHashMap;
use rustix::time::{ClockId, clock_gettime};

use crate::trace::{KernelName, NameId, Names};

/// Longest name that is read, and longest demangled text: short names can expand to gigabytes.
const LONGEST: usize = 1 << 16;

/// Most demangled text of a capture. Further names stay as they are.
const MOST: usize = 1 << 25;

/// Deepest nesting of a name. Where a name is wrong at its innermost level, the parser tries all alternatives of all levels:
/// some ten further levels take seconds. The names of PyTorch need 66.
const DEEPEST: u32 = 72;

/// Longest time for all names of a capture that cannot be demangled. Further names stay as they are.
const PATIENCE: Duration = Duration::from_secs(1);

/// The names of kernels, each demangled once.
#[derive(Debug, Default)]
pub(super) struct KernelNames {
    known: FxHashMap<NameId, KernelName>,
    /// Bytes of demangled text, with those that were thrown away.
    written: usize,
    /// Processor time of the names that could not be demangled.
    lost: Duration,
}

impl KernelNames {
    /// The names of a kernel that the profile calls `raw`.
    pub(super) fn of(&mut self, raw: NameId, names: &mut Names) -> KernelName {
        let Self { known, written, lost } = self;
        *known.entry(raw).or_insert_with(|| {
            let text = names.text(raw);
            let is_read = text.starts_with("_Z") && text.len() <= LONGEST && *written <= MOST && *lost <= PATIENCE;
            match is_read.then(|| demangle_within(text, written, lost)).flatten() {
                Some(full) => KernelName { full: names.intern(&full), short: None, mangled: Some(raw) },
                None => KernelName { full: raw, short: None, mangled: None },
            }
        })
    }
}

/// Demangles a linker name, and adds its time to `lost` if it cannot be demangled.
fn demangle_within(raw: &str, written: &mut usize, lost: &mut Duration) -> Option<String> {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let begin = now();
    let full = demangle(raw, written);
    if full.is_none() {
        *lost += now().saturating_sub(begin);
    }
    full
}

/// Demangles a linker name; `None` for one that cannot be demangled.
fn demangle(raw: &str, written: &mut usize) -> Option<String> {
    let options = ParseOptions::default().recursion_limit(DEEPEST);
    let (symbol, rest) = BorrowedSymbol::with_tail_and_options(raw.as_bytes(), &options).ok()?;
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

    /// Returns the demangled name of a kernel, and the time that was lost.
    fn read(raw: &str, lost: Duration) -> (Option<String>, Duration) {
        let (mut kernels, mut names) = (KernelNames { lost, ..KernelNames::default() }, Names::default());
        let id = names.intern(raw);
        let name = kernels.of(id, &mut names);
        ((name.full != id).then(|| names.text(name.full).to_owned()), kernels.lost)
    }

    #[test]
    fn names_stay_as_they_are_once_too_much_time_was_lost() {
        assert_eq!(read("_Z1fv", PATIENCE), (Some("f()".to_owned()), PATIENCE));
        assert!(read("_Z1f!", PATIENCE).1 > PATIENCE);
        let late = PATIENCE + Duration::from_nanos(1);
        assert_eq!(read("_Z1fv", late), (None, late));
    }

    #[test]
    fn names_nested_too_deeply_stay_as_they_are() {
        let nested = |levels: usize| format!("_Z1f{}i{}", "I1A".repeat(levels), "E".repeat(levels));
        for (levels, is_read) in [(1, true), (12, true), (13, false), (16, false)] {
            assert!(BorrowedSymbol::with_tail(nested(levels).as_bytes()).is_ok(), "{levels}");
            assert_eq!(read(&nested(levels), Duration::ZERO).0.is_some(), is_read, "{levels}");
        }
    }
}
