//! The trait of profilers, with one that does what a script says, and the lists of files that real ones leave.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fastrnns_rs::error::{Error, Result};
use fastrnns_rs::orchestrate::profilers::{
    Artefact, Installation, Interrupted, Profiler, Request, Search, Version, by_name,
};

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

    fn capabilities(&self, _tool: &Installation) -> Vec<&'static str> {
        vec!["nothing"]
    }

    fn wrap(&self, tool: &Installation, capture: &Request, command: &[OsString]) -> Vec<OsString> {
        let program = tool.path.clone().unwrap_or_default().into_os_string();
        [program, capture.stem.clone().into()].into_iter().chain(command.iter().cloned()).collect()
    }

    fn artefacts(&self, _stem: &Path) -> Vec<Artefact> {
        Vec::new()
    }

    fn finish(&self, _tool: &Installation, stem: &Path) -> Option<Vec<OsString>> {
        let (raw, done) = (stem.with_extension("raw"), stem.with_extension("done"));
        (raw.exists() && !done.exists()).then(|| ["cp".into(), raw.into(), done.into()].to_vec())
    }
}

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fastrnns-rs-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn program(&self, place: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;

        let path = self.0.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_trait_is_all_that_a_profiler_needs() {
    let folder = Folder::new("scripted");
    let newer = folder.program("opt/scripted/2.0/bin/scripted");
    let older = folder.program("opt/scripted/1.0/bin/scripted");
    let search = Search { path: vec![newer.parent().unwrap().into()], toolkits: Vec::new(), root: folder.0.clone() };
    assert_eq!(Scripted.find(&search), [newer.clone(), older]);

    let tool = Scripted.open(Some(&newer), &|| false).unwrap();
    assert_eq!(tool.version.as_ref().unwrap().numbers, [1, 2]);
    let stem = folder.0.join("capture");
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
    let folder = Folder::new("nsys");
    // A stem with a dot must not lose what follows it.
    let stem = folder.0.join("v1.5 capture");
    let file = |suffix: &str| PathBuf::from(format!("{}{suffix}", stem.display()));
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
fn a_profiler_that_there_is_not_is_named() {
    assert!(matches!(by_name("perf"), Err(Error::UnknownProfiler { name }) if name == "perf"));
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
