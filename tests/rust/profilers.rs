//! The trait of profilers, with one that does what a script says, and the lists of files that real ones leave.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fastrnns_rs::error::{Error, Result};
use fastrnns_rs::orchestrate::profilers::{Installation, Interrupted, Profiler, Request, Search, Version, by_name};

/// Writes `STEM.raw`, then wants `STEM.done` made of it.
struct Scripted;

impl Profiler for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn find(&self, search: &Search) -> Vec<PathBuf> {
        search.programs("scripted", &["opt/scripted/*/bin"])
    }

    fn open(&self, path: Option<&Path>, _: Interrupted<'_>) -> Result<Installation> {
        Ok(Installation {
            path: path.map(Path::to_owned),
            version: Version::find("scripted 1.2"),
            ..Default::default()
        })
    }

    fn wrap(&self, tool: &Installation, capture: &Request, command: &[OsString]) -> Vec<OsString> {
        let program = tool.path.clone().unwrap_or_default().into_os_string();
        [program, capture.stem.clone().into()].into_iter().chain(command.iter().cloned()).collect()
    }

    fn finish(&self, _tool: &Installation, stem: &Path) -> Option<Vec<OsString>> {
        let (raw, done) = (stem.with_extension("raw"), stem.with_extension("done"));
        (raw.exists() && !done.exists()).then(|| ["cp".into(), raw.into(), done.into()].to_vec())
    }
}

/// A program in a folder.
fn program(folder: &Path, place: &str) -> PathBuf {
    let path = folder.join(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn the_trait_is_all_that_a_profiler_needs() {
    let folder = tempfile::tempdir().unwrap();
    let newer = program(folder.path(), "opt/scripted/2.0/bin/scripted");
    let older = program(folder.path(), "opt/scripted/1.0/bin/scripted");
    let search =
        Search { path: vec![newer.parent().unwrap().into()], toolkits: Vec::new(), root: folder.path().into() };
    assert_eq!(Scripted.find(&search), [newer.clone(), older]);

    let tool = Scripted.open(Some(&newer), &|| false).unwrap();
    assert_eq!(tool.version.as_ref().unwrap().numbers, [1, 2]);
    let stem = folder.path().join("capture");
    let request = Request { stem: stem.clone(), cuda: false, range: false };
    assert_eq!(
        Scripted.wrap(&tool, &request, &["app".into()]),
        [newer.into_os_string(), stem.clone().into(), "app".into()]
    );

    assert_eq!(Scripted.finish(&tool, &stem), None, "nothing was captured");
    fs::write(stem.with_extension("raw"), "captured").unwrap();
    let step = Scripted.finish(&tool, &stem).unwrap();
    assert!(std::process::Command::new(&step[0]).args(&step[1..]).status().unwrap().success());
    assert_eq!(Scripted.finish(&tool, &stem), None);
    assert_eq!(fs::read_to_string(stem.with_extension("done")).unwrap(), "captured");
}

#[test]
fn nsys_is_brought_from_stream_to_report_to_export() {
    let folder = tempfile::tempdir().unwrap();
    // A stem with a dot must not lose what follows it.
    let stem = folder.path().join("v1.5 capture");
    let file = |suffix: &str| PathBuf::from(format!("{}{suffix}", stem.display()));
    assert!(matches!(by_name("perf"), Err(Error::UnknownProfiler { name }) if name == "perf"));
    let nsys = by_name("nsys").unwrap();
    let tool =
        Installation { path: Some("nsys".into()), importer: Some("QdstrmImporter".into()), ..Default::default() };
    assert_eq!(nsys.finish(&tool, &stem), None);
    fs::write(file(".qdstrm"), "").unwrap();
    assert_eq!(nsys.finish(&tool, &stem), None, "an empty file is none");
    fs::write(file(".qdstrm"), "stream").unwrap();
    assert_eq!(nsys.finish(&tool, &stem).unwrap()[0], "QdstrmImporter");
    assert_eq!(nsys.finish(&Installation { importer: None, ..tool.clone() }, &stem), None);
    fs::write(file(".nsys-rep"), "report").unwrap();
    let export = nsys.finish(&tool, &stem).unwrap();
    assert_eq!(export[..2], ["nsys", "export"]);
    assert!(export.contains(&file(".nsys-rep").into_os_string()));
    fs::write(file(".sqlite"), "export").unwrap();
    assert_eq!(nsys.finish(&tool, &stem), None);
    let kinds: Vec<_> = nsys.artefacts(&stem).iter().filter(|one| one.path.exists()).map(|one| one.kind).collect();
    assert_eq!(kinds, ["nsys_sqlite", "nsys_report", "nsys_stream"]);
}

#[test]
fn versions_are_found_in_what_programs_print() {
    let version = |text: &str| Version::find(text).map(|version| version.numbers);
    assert_eq!(version("NVIDIA Nsight Systems version 2022.4.2.1-df9881f"), Some(vec![2022, 4, 2, 1]));
    assert_eq!(version("Copyright (c) 2012 - 2022\nRelease version 11.8.87 (21)"), Some(vec![11, 8, 87]));
    assert_eq!(version("no version at all 7"), None);
    assert_eq!(version("..."), None);
    assert_eq!(version("99999999999.1"), None);
}
