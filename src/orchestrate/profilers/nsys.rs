//! Nsight Systems.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::search::expand;
use super::{
    Artefact, Installation, Interrupted, Profiler, Request, Search, Version, is_written, literal, open_program, option,
    read_output, with_suffix,
};
use crate::error::{Error, Result};
use crate::orchestrate::command::is_executable;

/// Folders of NVIDIA's packages, of toolkits and of distributions.
const FOLDERS: &[&str] = &[
    "usr/local/cuda/bin",
    "usr/local/cuda-*/bin",
    "opt/nvidia/nsight-systems/*/bin",
    "opt/nvidia/nsight-systems-cli/*/bin",
    "opt/nvidia/nsight-compute/*/host/target-linux-x64",
    "usr/lib/nsight-systems/bin",
];
/// Name of the importer, which makes a report of a stream.
const IMPORTER: &str = "QdstrmImporter";
/// Folders of the importer, relative to the folder of the program.
const IMPORTERS: &[&str] = &["../host-linux-x64", "../../host-linux-x64", "../Host-x86_64", "../../Host-x86_64"];
/// The same where a distribution has put the two apart.
const IMPORTER_FOLDERS: &[&str] = &[
    "usr/lib/nsight-systems/host-linux-x64",
    "usr/lib/nsight-systems/Host-x86_64",
    "opt/nvidia/nsight-systems/*/host-linux-x64",
    "opt/nvidia/nsight-systems-cli/*/host-linux-x64",
];

pub(super) struct Nsys;

impl Profiler for Nsys {
    fn name(&self) -> &'static str {
        "nsys"
    }

    fn find(&self, search: &Search) -> Vec<PathBuf> {
        search.programs("nsys", FOLDERS)
    }

    fn open(&self, path: Option<&Path>, interrupted: Interrupted<'_>) -> Result<Installation> {
        let path = path.ok_or_else(|| Error::UnknownProfiler { name: "nsys without a program".to_owned() })?;
        let mut tool = open_program(path, &["--version"], &["profile", "--help"], interrupted)?;
        tool.importer = match neighbour(path) {
            None => packaged(Path::new("/"), tool.version.as_ref(), interrupted)?,
            found => found,
        };
        Ok(tool)
    }

    fn capabilities(&self, tool: &Installation) -> Vec<&'static str> {
        let options = [
            ("capture_range", "--capture-range"),
            ("graph_nodes", "--cuda-graph-trace"),
            ("discard_environment", "--discard-environment"),
        ];
        let mut found = vec!["cuda", "nvtx", "sqlite"];
        found.extend(options.into_iter().filter(|(_, option)| tool.has(option)).map(|(name, _)| name));
        found.extend(tool.importer.is_some().then_some("import_qdstrm"));
        found
    }

    fn wrap(&self, tool: &Installation, capture: &Request, command: &[OsString]) -> Vec<OsString> {
        let mut argv = vec![tool.program(), "profile".into()];
        // Tracing the C library of a process that imports torch writes gigabytes.
        argv.push(option("--trace", if capture.cuda { "cuda,nvtx" } else { "nvtx" }));
        argv.push("--sample=none".into());
        if tool.has("--cpuctxsw") {
            argv.push("--cpuctxsw=none".into());
        }
        if capture.cuda && capture.range && tool.has("--capture-range") {
            argv.push("--capture-range=cudaProfilerApi".into());
            // By default it kills the command at the end of the range.
            let stop = ["--capture-range-end=stop", "--stop-on-range-end=true"];
            argv.extend(stop.into_iter().find(|text| tool.has(text.split('=').next().unwrap_or(text))).map(Into::into));
        }
        if capture.cuda && tool.has("--cuda-graph-trace") {
            argv.push("--cuda-graph-trace=node".into());
        }
        if tool.has("--wait") {
            // It would wait for whatever the command leaves behind, for ever.
            argv.push("--wait=primary".into());
        }
        argv.push("--force-overwrite=true".into());
        argv.push(option("--output", literal(&capture.stem)));
        argv.extend_from_slice(command);
        argv
    }

    fn artefacts(&self, stem: &Path) -> Vec<Artefact> {
        vec![
            Artefact::new(stem, ".sqlite", "nsys_sqlite"),
            Artefact::new(stem, ".nsys-rep", "nsys_report"),
            // What versions before 2021.4 call it.
            Artefact::new(stem, ".qdrep", "nsys_report"),
            Artefact::new(stem, ".qdstrm", "nsys_stream").intermediate(),
        ]
    }

    fn finish(&self, tool: &Installation, stem: &Path) -> Option<Vec<OsString>> {
        let sqlite = with_suffix(stem, ".sqlite");
        if is_written(&sqlite) {
            return None;
        }
        let reports = [".nsys-rep", ".qdrep"].map(|suffix| with_suffix(stem, suffix));
        if let Some(report) = reports.iter().find(|report| is_written(report)) {
            let mut argv = vec![tool.program(), "export".into(), "--type=sqlite".into()];
            argv.extend([option("--output", &sqlite), "--force-overwrite=true".into(), report.into()]);
            return Some(argv);
        }
        let stream = with_suffix(stem, ".qdstrm");
        let importer = tool.importer.as_ref().filter(|_| is_written(&stream))?;
        let [report, _] = reports;
        let mut argv: Vec<OsString> = vec![importer.into(), "--input-file".into(), stream.into()];
        argv.extend(["--output-file".into(), report.into(), "--force-overwrite".into()]);
        Some(argv)
    }
}

/// The importer that is installed with the program at `path`.
///
/// Its owner is that of the program, root or this user: the folder above may be one in which others can put files.
fn neighbour(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let folder = path.parent()?;
    let trusted = [path.metadata().ok()?.uid(), 0, geteuid().as_raw()];
    importers(IMPORTERS.iter().map(|other| folder.join(other))).find(|importer| {
        // A link may lead to another program of a trusted owner.
        importer.ends_with(IMPORTER) && importer.metadata().is_ok_and(|file| trusted.contains(&file.uid()))
    })
}

/// The importer of a version where a distribution has put it: an importer reads streams of its own version alone.
fn packaged(root: &Path, version: Option<&Version>, interrupted: Interrupted<'_>) -> Result<Option<PathBuf>> {
    for program in importers(IMPORTER_FOLDERS.iter().flat_map(|pattern| expand(root, pattern))) {
        match read_output(&program, &["--version"], interrupted) {
            Ok(output) if numbers(Version::find(&output).as_ref()) == numbers(version) => return Ok(Some(program)),
            Ok(_) | Err(Error::UnusableProfiler { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn importers(folders: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    let programs = folders.map(|folder| folder.join(IMPORTER));
    programs.filter(|program| is_executable(program)).filter_map(|program| program.canonicalize().ok())
}

/// The numbers of a version, without the commit that some programs append.
fn numbers(version: Option<&Version>) -> Option<&[u32]> {
    version.map(|version| version.numbers.as_slice())
}
