//! State of the files in a folder.

use std::fs::{self, DirEntry};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;

use crate::guard::guarded;

/// Returns a hash of the names, sizes and times of the files in a folder.
///
/// Hidden files do not count. Another build may give another hash.
///
/// Args:
///     folder: Path of the folder.
///
/// Raises:
///     OSError: If the folder cannot be read.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "Python's arguments are owned")]
pub(super) fn hash_folder(py: Python<'_>, folder: PathBuf) -> PyResult<u64> {
    guarded(|| Ok(py.detach(|| hash(&folder))?))
}

fn hash(folder: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        name.hash(&mut hasher);
        // A file may be gone, or not be found by a network file system now.
        stamp(&entry).map_err(|error| error.raw_os_error()).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Returns what changes with a file. Only the system sets the last time (ctime).
fn stamp(entry: &DirEntry) -> io::Result<[i64; 6]> {
    let mut found = entry.metadata()?;
    if found.is_symlink() {
        found = fs::metadata(entry.path())?;
    }
    let size = i64::try_from(found.size()).unwrap_or(i64::MAX);
    let (mode, seconds) = (i64::from(found.mode()), [found.mtime(), found.ctime()]);
    Ok([size, mode, seconds[0], found.mtime_nsec(), seconds[1], found.ctime_nsec()])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::{fs, hash};

    #[test]
    fn every_change_of_a_file_gives_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        let mut seen = vec![hash(place).unwrap()];
        let mut is_new = || {
            let found = hash(place).unwrap();
            assert_eq!(hash(place).unwrap(), found);
            seen.push(found);
            !seen[..seen.len() - 1].contains(&found)
        };
        fs::write(place.join("a"), "1").unwrap();
        assert!(is_new());
        fs::write(place.join("a"), "22").unwrap();
        assert!(is_new());
        fs::rename(place.join("a"), place.join("b")).unwrap();
        assert!(is_new());
        symlink("nowhere", place.join("link")).unwrap();
        assert!(is_new());
        fs::write(place.join(".hidden"), "1").unwrap();
        assert!(!is_new());
        assert!(hash(&place.join("none")).is_err());
    }
}
