//! Profilers: programs that watch a command and write captures. A profiler is a file here and its two lines below.

mod none;
mod nsys;
mod nvprof;
mod search;
mod torch;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

pub use search::Search;

use super::command::{Command, GRACE};
use super::process::run;
use crate::error::{Error, Result};

/// Returns true if the caller no longer wants an answer; called many times a second.
pub type Interrupted<'a> = &'a dyn Fn() -> bool;

/// Every profiler there is, in the order in which they are shown.
pub static PROFILERS: &[&dyn Profiler] = &[&nsys::Nsys, &nvprof::Nvprof, &torch::Torch, &none::None];

/// Time limit for a tool to print its version.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// A profiler. The default methods are those of a profiler without a program of its own.
///
/// Nothing here but [`Profiler::open`] runs a program: commands are made, and the caller runs them under supervision.
pub trait Profiler: Sync {
    /// Common name of the profiler.
    fn name(&self) -> &'static str;

    /// Finds its programs; empty if the profiler does not need a program.
    fn find(&self, _search: &Search) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Asks the program at `path` for its version and its options.
    ///
    /// # Errors
    ///
    /// It does not run, or says nothing that this profiler says; or the caller has `interrupted`.
    fn open(&self, _path: Option<&Path>, _interrupted: Interrupted<'_>) -> Result<Installation> {
        Ok(Installation::default())
    }

    /// Returns the capabilities of an installation.
    fn capabilities(&self, _tool: &Installation) -> Vec<&'static str> {
        Vec::new()
    }

    /// The command that runs `command` under the profiler.
    fn wrap(&self, _tool: &Installation, _capture: &Request, command: &[OsString]) -> Vec<OsString> {
        command.to_vec()
    }

    /// Returns the possible files of a capture, whether they exist or not.
    fn artefacts(&self, _stem: &Path) -> Vec<Artefact> {
        Vec::new()
    }

    /// The next command that brings the capture on its way to something that can be read, judged by the files that
    /// are there; None when there is nothing left to do.
    fn finish(&self, _tool: &Installation, _stem: &Path) -> Option<Vec<OsString>> {
        None
    }
}

/// Returns the profiler with this name.
///
/// # Errors
///
/// There is no profiler with this name.
pub fn by_name(name: &str) -> Result<&'static dyn Profiler> {
    let known = PROFILERS.iter().copied().find(|profiler| profiler.name() == name);
    known.ok_or_else(|| Error::UnknownProfiler { name: name.to_owned() })
}

/// An installed program with its version and options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installation {
    /// Path of the program; None if the profiler is not a program.
    pub path: Option<PathBuf>,
    /// Its version, and the same as numbers.
    pub version: Option<Version>,
    /// The options that its own help lists.
    pub options: Vec<String>,
    /// Program next to it that converts raw captures to reports.
    pub importer: Option<PathBuf>,
}

impl Installation {
    /// Returns true if its help lists an option.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }

    fn program(&self) -> OsString {
        self.path.clone().unwrap_or_default().into_os_string()
    }
}

/// A version as it was printed, ordered by its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Version as printed.
    pub text: String,
    /// Its numbers, the major one first.
    pub numbers: Vec<u32>,
}

impl Version {
    /// The first word of a text that begins with numbers parted by dots.
    pub fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let head = word.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?;
            let numbers: Vec<u32> = head.split('.').map(str::parse).collect::<std::result::Result<_, _>>().ok()?;
            (numbers.len() > 1).then(|| Self { text: word.trim_end_matches(',').to_owned(), numbers })
        })
    }
}

/// Request for a capture.
#[derive(Debug, Clone)]
pub struct Request {
    /// Path of the output files, without suffixes.
    pub stem: PathBuf,
    /// True if the command uses a GPU.
    pub cuda: bool,
    /// True to capture only between cudaProfilerStart and cudaProfilerStop.
    pub range: bool,
}

/// A file that a profiler writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Path of the file.
    pub path: PathBuf,
    /// Kind of the file, in one word.
    pub kind: &'static str,
    /// True for an intermediate file.
    pub intermediate: bool,
}

impl Artefact {
    fn new(stem: &Path, suffix: &str, kind: &'static str) -> Self {
        Self { path: with_suffix(stem, suffix), kind, intermediate: false }
    }

    fn intermediate(self) -> Self {
        Self { intermediate: true, ..self }
    }
}

/// A path with a suffix added. Not [`Path::with_extension`], which would cut a stem at its last dot.
pub(super) fn with_suffix(stem: &Path, suffix: &str) -> PathBuf {
    let mut text = stem.as_os_str().to_owned();
    text.push(suffix);
    PathBuf::from(text)
}

/// Returns true if a file exists and is not empty.
pub(super) fn is_written(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// Runs a program and returns its output.
///
/// The Python inside nsys searches the working directory and all folders above it for modules. In the root folder, only
/// root can put one.
fn read_output(path: &Path, arguments: &[&str], interrupted: Interrupted<'_>) -> Result<String> {
    let argv = std::iter::once(path.into()).chain(arguments.iter().map(OsString::from)).collect();
    let command = Command { argv, directory: Some("/".into()), ..Command::default() };
    let completed = run(&command, Some(ANSWER_LIMIT), GRACE, interrupted)?;
    let output = [completed.stdout_tail, completed.stderr_tail].concat();
    let text = String::from_utf8_lossy(&output).into_owned();
    let unusable = |reason: String| Error::UnusableProfiler { path: path.display().to_string(), reason };
    match (completed.timed_out, completed.exit_status) {
        (true, _) => {
            Err(unusable(format!("{} did not answer within {} s", arguments.join(" "), ANSWER_LIMIT.as_secs())))
        }
        (false, Some(0)) => Ok(text),
        (false, status) => {
            let line = first_line(&text).unwrap_or_else(|| "no output".to_owned());
            let how = status.map_or_else(|| "was killed".to_owned(), |status| format!("exited with status {status}"));
            Err(unusable(format!("{} {how}: {line}", arguments.join(" "))))
        }
    }
}

/// Asks a program for its version and the options of its help.
fn open_program(path: &Path, version: &[&str], help: &[&str], interrupted: Interrupted<'_>) -> Result<Installation> {
    // It does not start in the working directory. A name without a slash is one of `PATH`.
    let is_name = !path.as_os_str().as_bytes().contains(&b'/');
    let path = &if is_name { path.to_owned() } else { absolute(path).unwrap_or_else(|_| path.to_owned()) };
    let output = read_output(path, version, interrupted)?;
    let version = Version::find(&output).ok_or_else(|| Error::UnusableProfiler {
        path: path.display().to_string(),
        reason: format!("no version in the output {:?}", first_line(&output).unwrap_or_default()),
    })?;
    let help = read_output(path, help, interrupted)?;
    let options = help
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | '=' | '[' | '<' | '\'' | '"'))
        .filter(|word| word.starts_with("--"))
        .map(str::to_owned)
        .collect();
    Ok(Installation { path: Some(path.to_owned()), version: Some(version), options, importer: None })
}

/// The beginning of the first line that says something.
fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(200).collect())
}

/// Returns a path for an option in which `%p` and the like are placeholders.
fn literal(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    OsString::from_vec(bytes.iter().flat_map(|&byte| if byte == b'%' { vec![b'%'; 2] } else { vec![byte] }).collect())
}

fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

/// An option and its value as one argument.
fn option(name: &str, value: impl AsRef<std::ffi::OsStr>) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(value);
    text
}
