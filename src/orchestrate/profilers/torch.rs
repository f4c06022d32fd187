//! PyTorch's own profiler: it lives inside the command, which writes the files itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Artefact, Installation, Interrupted, Profiler, Request, Search};
use crate::error::Result;

pub(super) struct Torch;

impl Profiler for Torch {
    fn name(&self) -> &'static str {
        "torch"
    }

    fn find(&self, _search: &Search) -> Vec<PathBuf> {
        Vec::new()
    }

    fn open(&self, _path: Option<&Path>, _interrupted: Interrupted<'_>) -> Result<Installation> {
        Ok(Installation::default())
    }

    fn capabilities(&self, _tool: &Installation) -> Vec<&'static str> {
        vec!["cpu", "cuda", "kineto", "memory", "schedule", "stacks"]
    }

    fn wrap(&self, _tool: &Installation, _capture: &Request, command: &[OsString]) -> Vec<OsString> {
        command.to_vec()
    }

    fn artefacts(&self, _stem: &Path) -> Vec<Artefact> {
        // How many there are, and where, is in the command's answer.
        Vec::new()
    }

    fn finish(&self, _tool: &Installation, _stem: &Path) -> Option<Vec<OsString>> {
        None
    }
}
