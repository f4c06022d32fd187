//! The profiler of CUDA toolkits up to 12, for GPUs before Ampere.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{
    Artefact, Installation, Interrupted, Profiler, Request, Search, is_written, literal, open_program, with_suffix,
    words,
};
use crate::error::{Error, Result};

const FOLDERS: &[&str] = &["usr/local/cuda/bin", "usr/local/cuda-*/bin", "usr/lib/nvidia-cuda-toolkit/bin"];
/// Suffix of each table that is printed from a capture, and its option.
const TABLES: &[(&str, &str)] = &[(".gpu_summary.csv", "--print-gpu-summary"), (".gpu_trace.csv", "--print-gpu-trace")];

pub(super) struct Nvprof;

impl Profiler for Nvprof {
    fn name(&self) -> &'static str {
        "nvprof"
    }

    fn find(&self, search: &Search) -> Vec<PathBuf> {
        search.programs("nvprof", FOLDERS)
    }

    fn open(&self, path: Option<&Path>, interrupted: Interrupted<'_>) -> Result<Installation> {
        let path = path.ok_or_else(|| Error::UnknownProfiler { name: "nvprof without a program".to_owned() })?;
        open_program(path, &["--version"], &["--help"], interrupted)
    }

    fn capabilities(&self, tool: &Installation) -> Vec<&'static str> {
        let mut found = vec!["cuda", "csv"];
        found.extend(tool.has("--profile-from-start").then_some("capture_range"));
        found
    }

    fn wrap(&self, tool: &Installation, capture: &Request, command: &[OsString]) -> Vec<OsString> {
        let mut argv = vec![tool.program()];
        if capture.range && tool.has("--profile-from-start") {
            argv.extend(words(&["--profile-from-start", "off"]));
        }
        argv.extend([
            "--force-overwrite".into(),
            "--export-profile".into(),
            literal(&with_suffix(&capture.stem, ".nvvp")),
        ]);
        argv.extend_from_slice(command);
        argv
    }

    fn artefacts(&self, stem: &Path) -> Vec<Artefact> {
        vec![
            Artefact::new(stem, ".nvvp", "nvprof_profile"),
            Artefact::new(stem, TABLES[0].0, "nvprof_gpu_summary"),
            Artefact::new(stem, TABLES[1].0, "nvprof_gpu_trace"),
        ]
    }

    fn finish(&self, tool: &Installation, stem: &Path) -> Option<Vec<OsString>> {
        let profile = with_suffix(stem, ".nvvp");
        if !is_written(&profile) {
            return None;
        }
        let (suffix, table) = TABLES.iter().find(|(suffix, _)| !is_written(&with_suffix(stem, suffix)))?;
        let mut argv = vec![tool.program(), "--import-profile".into(), profile.into(), "--csv".into(), table.into()];
        argv.extend(["--log-file".into(), literal(&with_suffix(stem, suffix))]);
        Some(argv)
    }
}
