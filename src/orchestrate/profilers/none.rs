//! No profiler: the command as it is, for what the others are compared with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Artefact, Installation, Interrupted, Profiler, Request, Search};
use crate::error::Result;

pub(super) struct None;

impl Profiler for None {
    fn name(&self) -> &'static str {
        "none"
    }

    fn find(&self, _search: &Search) -> Vec<PathBuf> {
        Vec::new()
    }

    fn open(&self, _path: Option<&Path>, _interrupted: Interrupted<'_>) -> Result<Installation> {
        Ok(Installation::default())
    }

    fn capabilities(&self, _tool: &Installation) -> Vec<&'static str> {
        Vec::new()
    }

    fn wrap(&self, _tool: &Installation, _capture: &Request, command: &[OsString]) -> Vec<OsString> {
        command.to_vec()
    }

    fn artefacts(&self, _stem: &Path) -> Vec<Artefact> {
        Vec::new()
    }

    fn finish(&self, _tool: &Installation, _stem: &Path) -> Option<Vec<OsString>> {
        Option::None
    }
}
