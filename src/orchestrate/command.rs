//! Commands to run.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, Mode, OFlags, access, open};
use rustix::io::Errno;

use crate::error::{Error, Result};

/// Time between the request to end and the kill of a command.
pub const GRACE: Duration = Duration::from_secs(1);
/// Folders of programs if `PATH` is not set, as everywhere else.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// A command as an argument vector; no shell ever sees it.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The program, looked up on `PATH` unless it holds a slash, and its arguments.
    pub argv: Vec<OsString>,
    /// Its variables; None for those of this process.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Working directory; None for the directory of this process.
    pub directory: Option<PathBuf>,
    /// True if we write to its standard input, which is empty otherwise.
    pub feed: bool,
    /// True if lines of its standard output are handed out, in addition to the tail that is kept.
    pub lines: bool,
}

impl Command {
    /// The variables that it will see.
    pub(super) fn variables(&self) -> Vec<(OsString, OsString)> {
        self.environment.clone().unwrap_or_else(|| env::vars_os().collect())
    }

    /// Finds the program of its first argument.
    ///
    /// # Errors
    ///
    /// There is no argument, a text is not possible, or there is no such program or folder.
    pub(super) fn program(&self) -> Result<PathBuf> {
        let Some(first) = self.argv.first() else {
            return Err(Error::NotACommand { reason: "the command has no arguments".to_owned() });
        };
        let pairs = self.environment.iter().flatten().flat_map(|(name, value)| [name, value]);
        let directory = self.directory.as_deref().map(Path::as_os_str);
        if let Some(bad) = self.argv.iter().chain(pairs).map(OsString::as_os_str).chain(directory).find(has_nul) {
            return Err(Error::NotACommand {
                reason: format!("\"{}\" contains a NUL character", bad.as_bytes().escape_ascii()),
            });
        }
        let mut names = self.environment.iter().flatten().map(|(name, _)| name.as_bytes());
        if let Some(bad) = names.find(|name| name.contains(&b'=')) {
            return Err(Error::NotACommand {
                reason: format!("\"{}\" is not the name of a variable", bad.escape_ascii()),
            });
        }
        if let Some(directory) = directory {
            open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|errno| Error::spawn(directory, errno))?;
        }
        if first.as_bytes().contains(&b'/') {
            return Ok(PathBuf::from(first));
        }
        let path = match &self.environment {
            Some(pairs) => pairs.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone()),
            None => env::var_os("PATH"),
        };
        let path = path.unwrap_or_else(|| USUAL_PATH.into());
        let found = find(first, Some(&path)).ok_or_else(|| Error::spawn(first, Errno::NOENT))?;
        // A folder of the path may be relative to ours, and the command runs in its own.
        Ok(path::absolute(&found).unwrap_or(found))
    }
}

fn has_nul(text: &&OsStr) -> bool {
    text.as_bytes().contains(&0)
}

/// The first executable file of this name on a `PATH`.
pub fn find(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    env::split_paths(path?).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

/// Returns true if an executable file exists at a path.
pub fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Result of a command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// Exit status; None if a signal ended the command.
    pub exit_status: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// True if the command was ended because its time was up.
    pub timed_out: bool,
    /// The end of its standard output, at most [`super::tail::TAIL_BYTES`].
    pub stdout_tail: Vec<u8>,
    /// The end of its standard error.
    pub stderr_tail: Vec<u8>,
    /// From its start to its end.
    pub duration: Duration,
}
