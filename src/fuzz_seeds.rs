//! The properties of `fuzz/`, on the seeds of its targets and on changed ones. Nothing looks at coverage here, as
//! `scripts/fuzz` does.

#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "a library of its own to the programs of fuzz/")]
mod targets;

use std::fs;
use std::path::Path;
use std::process::Command;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use tempfile::TempDir;

/// Changed ones of each seed.
const CHANGED: usize = 10;
/// The targets change no longer ones.
const LONGEST: usize = 8192;

/// A folder with the seeds of every target.
fn seeds() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let python = std::env::var("PYTHON").unwrap_or("python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds.py");
    let status = Command::new(&python).arg(script).arg(folder.path()).status();
    assert!(status.is_ok_and(|status| status.success()), "{python} does not write the seeds");
    folder
}

/// Runs `check` on each seed of a target and on changed ones; `check` returns whether the input was of its target.
fn check_all(target: &str, check: impl Fn(&[u8]) -> bool) {
    let folder = seeds();
    let mut seeds: Vec<_> = fs::read_dir(folder.path().join(target)).unwrap().map(|one| one.unwrap().path()).collect();
    seeds.sort();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(21);
    let (mut inputs, mut fitting) = (0, 0);
    for path in &seeds {
        let seed = fs::read(path).unwrap();
        // Compressed ones are of many MiB, and changes of those are found by their checksums.
        let is_short = seed.len() <= LONGEST && path.extension().is_none();
        let changes = if is_short { CHANGED } else { 0 };
        for count in 0..=changes {
            inputs += 1;
            fitting += usize::from(check(&changed(&seed, count, &mut dice)));
        }
    }
    assert!(fitting > 2 * seeds.len(), "only {fitting} of {inputs} are of this target");
}

/// The input after `count` changes, but at most four: mostly bytes that are replaced, which leaves pages in their places.
fn changed(seed: &[u8], count: usize, dice: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut input = seed.to_vec();
    for _ in 0..count.min(4) {
        let mut below = |end: usize| usize::try_from(dice.next_u64() % (end as u64).max(1)).unwrap();
        let place = below(input.len());
        let end = (place + 1 + below(8)).min(input.len());
        match below(8) {
            0 => drop(input.splice(end..end, input[place..end].to_vec())),
            1 => drop(input.drain(place..end)),
            _ => input[place..end].iter_mut().for_each(|byte| *byte = below(256) as u8),
        }
    }
    input
}

#[test]
fn kineto() {
    check_all("kineto", targets::kineto::check);
}

#[test]
fn nsys_sqlite() {
    check_all("nsys_sqlite", targets::nsys_sqlite::check);
}

#[test]
fn nvprof_sqlite() {
    check_all("nvprof_sqlite", targets::nvprof_sqlite::check);
}

#[test]
fn nvprof_csv() {
    check_all("nvprof_csv", targets::nvprof_csv::check);
}

#[test]
fn names() {
    check_all("names", |input| {
        targets::names::check(&String::from_utf8_lossy(input));
        true
    });
}
