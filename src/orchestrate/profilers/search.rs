//! Search for installed profilers.

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::orchestrate::command::is_executable;

/// Places to search for programs.
#[derive(Debug, Clone)]
pub struct Search {
    /// The folders of `PATH`, without relative ones: the working directory may contain a program of others.
    pub path: Vec<PathBuf>,
    /// The CUDA toolkits that variables name.
    pub toolkits: Vec<PathBuf>,
    /// Root of the usual folders, instead of `/`.
    pub root: PathBuf,
}

impl Search {
    /// Returns the places that this process searches.
    pub fn of_this_process() -> Self {
        let split = |value: OsString| env::split_paths(&value).filter(|folder| folder.is_absolute()).collect();
        let toolkits = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(env::var_os);
        Self {
            path: env::var_os("PATH").map(split).unwrap_or_default(),
            toolkits: toolkits.map(PathBuf::from).filter(|folder| folder.is_absolute()).collect(),
            root: PathBuf::from("/"),
        }
    }

    /// Every program of this name in `PATH`, in a toolkit, or under one of the usual folders, each once.
    ///
    /// A `*` in `usual` stands for any one name.
    pub fn programs(&self, name: &str, usual: &[&str]) -> Vec<PathBuf> {
        let toolkits = self.toolkits.iter().map(|toolkit| toolkit.join("bin"));
        let usual = usual.iter().flat_map(|pattern| expand(&self.root, pattern));
        let folders = self.path.iter().cloned().chain(toolkits).chain(usual);
        let mut seen = HashSet::new();
        folders
            .map(|folder| folder.join(name))
            // One program has several names: links in /usr/bin, versions that /usr/local/cuda stands for.
            .filter(|program| is_executable(program) && seen.insert(program.canonicalize().ok()))
            .collect()
    }
}

/// Returns the folders that match a pattern, in reverse order of their names, so that newer versions come first.
pub(super) fn expand(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for part in pattern.split('/') {
        found = match part.split_once('*') {
            None => found.into_iter().map(|folder| folder.join(part)).collect(),
            Some((before, after)) => found.iter().flat_map(|folder| matching(folder, before, after)).collect(),
        };
    }
    found.retain(|folder| folder.is_dir());
    found
}

fn matching(folder: &Path, before: &str, after: &str) -> Vec<PathBuf> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after))
        .collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.into_iter().map(|name| folder.join(name)).collect()
}
