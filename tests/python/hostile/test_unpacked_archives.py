"""Folders of other people: pipes, links, manifests that lie, and settings of other programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from commands import run_cli, run_pretended, run_process
from conftest import ROOT
from kineto_traces import kernel, write
from parts import few
from run_files import result, run
from run_files import write as write_run
from test_code import let_all_write, program
from test_inductor_finding import module

import fastrnns_rs
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.machine.noise import storage
from fastrnns_rs.verbs.inductor import module_files
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.views.page import pages

MANIFEST = next((ROOT / "tests" / "data" / "documents").glob("capture_5_*.json"))


def manifest(folder: Path, *artefacts: tuple[str, str]) -> Path:
    """A capture manifest with these paths and kinds."""
    plain: dict[str, Any] = json.loads(MANIFEST.read_text())
    entries = [{"path": path, "kind": kind, "size_bytes": 1, "sha256": "0" * 64} for path, kind in artefacts]
    path = folder / "m.json"
    path.write_text(json.dumps(plain | {"artefacts": entries}))
    return path


@pytest.mark.parametrize("kind", ["kineto", "nsys_report", "nsys_sqlite"])
def test_a_pipe_that_a_manifest_names_is_not_opened(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.json")
    path = manifest(tmp_path, ("t.json", kind))
    for words in (["report", path], ["report", tmp_path], ["compare", path, path]):
        done = run_process(*words)
        assert (done.status, len(done.stderr.splitlines())) in {(1, 2), (2, 2)}, done.stderr
    assert "not a file" in run_process("report", path).stderr


def test_a_manifest_hides_no_capture(tmp_path: Path) -> None:
    for name, start in (("a", 10), ("b", 20)):
        write(tmp_path / f"{name}.json", [kernel("a kernel", start, 2)])
    manifest(tmp_path, ("a.json", "kineto"), ("b.json", "log"))
    found = fastrnns_rs.read(tmp_path)
    assert {Path(one.path).name for one in found.captures} == {"a.json", "b.json"}


def test_the_log_of_a_capture_is_no_capture_that_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [kernel("a kernel", 10, 2)])
    manifest(tmp_path, ("a.json", "kineto"))
    (tmp_path / "m.log").write_text("# under the profiler\n")
    kept = [one.code for one in fastrnns_rs.read(tmp_path).warnings]
    # A log of another name belongs to no manifest, and a capture is no log.
    (tmp_path / "n.log").write_text("# under the profiler\n")
    found = fastrnns_rs.read(tmp_path).warnings
    assert [one.evidence for one in found if one.code == "files_left_out"] == [
        f"{tmp_path / 'n.log'}: the file is text, but not a JSON trace"
    ]
    assert "files_left_out" not in kept
    (tmp_path / "n.log").unlink()
    write(tmp_path / "m.log", [kernel("a kernel", 20, 2)])
    assert {Path(one.path).name for one in fastrnns_rs.read(tmp_path).captures} == {"a.json", "m.log"}


def test_a_trace_may_begin_with_much_else(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [kernel("a kernel", 10, 2)])
    plain = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps({"metadata": "x" * 40_000, **plain}))
    assert file_kinds.kind(tmp_path / "a.json") == "capture"


def test_a_capture_counts_once(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [kernel("a kernel", 10, 2)])
    (tmp_path / "link.json").symlink_to("a.json")
    assert len(fastrnns_rs.read(tmp_path).captures) == 1
    path = manifest(tmp_path, *[("a.json", "kineto")] * 3)
    for source in (path, tmp_path):
        assert len(fastrnns_rs.read(source).captures) == 1


@pytest.mark.parametrize(
    "make",
    few([os.mkfifo], [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir()], "pages"),
)
def test_settings_of_plots_in_the_working_directory_are_not_read(make: Any, tmp_path: Path) -> None:
    make(tmp_path / "matplotlibrc")
    path = write_run(tmp_path / "r.json", run([result()]))
    for words in (["--plot", "o.svg"], ["--format", "html", "--output", "o.html"]):
        done = run_process("show", path, *words, cwd=tmp_path)
        assert done.status == 0, done.stderr
    assert (tmp_path / "o.svg").stat().st_size > 0


@pytest.mark.parametrize("name", ["settings", "matplotlibrc"])
def test_settings_of_plots_that_have_no_end_are_not_read(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    path = write_run(tmp_path / "r.json", run([result()]))
    settings = tmp_path / name if name == "settings" else tmp_path
    refused = run_process("show", path, "--plot", tmp_path / "o.svg", MATPLOTLIBRC=str(settings))
    assert (refused.status, refused.stderr.splitlines()) == (
        2,
        [
            f"error: cannot read file: {str(tmp_path / name)!r} (MATPLOTLIBRC): not a regular file",
            "hint: Use the path of a regular file, or unset the variable.",
        ],
    )
    # Many name this device to have no settings.
    done = run_process("show", path, "--plot", tmp_path / "o.svg", MATPLOTLIBRC=os.devnull)
    assert (done.status, done.stderr) == (0, "")


def test_a_page_that_cannot_be_made_does_not_cost_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise ValueError("planted")

    monkeypatch.setattr(pages, "page_text", fail)
    monkeypatch.setenv("TMPDIR", os.fspath(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    words = [
        "--group",
        "rnns",
        "--rnns",
        "cudnn",
        "--device",
        "cpu",
        "--processes",
        "1",
        "--nloops",
        "3",
        "--no-history",
    ]
    done = run_pretended("bench", *words, "--format", "html", "--output", tmp_path / "o.html", cwd=tmp_path)
    assert done.status == 1
    [place] = [line.split(" in ")[1] for line in done.stderr.splitlines() if line.startswith("note: the run is in ")]
    assert [one.status for one in Run.load(place).results] == ["ok"]


def test_a_module_outside_of_the_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache" / "ab").mkdir(parents=True, mode=0o700)
    module(tmp_path / "good.py")
    (tmp_path / "cache" / "ab" / "l.py").symlink_to(tmp_path / "good.py")
    with pytest.raises(FastrnnsError, match="module outside of Inductor's cache"):
        module_files.newest(tmp_path / "cache")


def test_a_noise_floor_that_is_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path))
    path = storage._path("cpu", "a processor")
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    with pytest.raises(UsageError, match="not a file"):
        storage.kept("cpu", "a processor")


def test_a_name_that_no_file_has_is_refused_at_once() -> None:
    with pytest.raises(UsageError):
        fastrnns_rs.load("x" * 10_000_000)


def test_an_escape_in_a_table_of_the_profiler_is_shown(tmp_path: Path) -> None:
    from fastrnns_rs.cli.capture_report import _table

    (tmp_path / "stem.py.0.txt").write_text("a\x1b[31mEVIL\u202e\nb\n")
    assert _table(tmp_path / "stem.py.0.txt", 200).endswith("a\\x1b[31mEVIL\\u{202e}\nb\n")


def test_quiet_of_a_project_hides_neither_its_program_nor_the_file_it_replaces(anywhere: Path) -> None:
    nsys = program(anywhere / "nsys")
    (anywhere / "x.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 2022@4@2" + bytes(100))
    write(anywhere / "trace.json", [kernel()])
    table = '[tool.fastrnns-rs.report]\nquiet = true\nnsys-path = "./nsys"\noutput = "README.md"\n'
    (anywhere / "pyproject.toml").write_text(table)
    notes = [
        f"note: {name} comes from {anywhere / 'pyproject.toml'}"
        for name in (f"output = {anywhere / 'README.md'}", f"nsys-path = {nsys}")
    ]
    done = run_cli("report", "x.nsys-rep", PATH="/nonexistent")
    assert done.stderr.splitlines()[:2] == notes
    assert Path(f"{nsys}.executed").exists()
    # Only the user's own flag or variable silences them.
    assert run_cli("report", "trace.json").stderr.splitlines() == notes
    assert run_cli("report", "trace.json", "--quiet").stderr == ""
    assert run_cli("report", "trace.json", FASTRNNS_REPORT_QUIET="1").stderr == ""


@pytest.mark.usefixtures("_no_torch")
def test_quiet_of_another_verb_does_not_silence_doctor(anywhere: Path) -> None:
    nsys = program(anywhere / "nsys")
    text = '[tool.fastrnns-rs.bench]\nquiet = true\noutput = "x"\n[tool.fastrnns-rs.profile]\nnsys-path = "./nsys"\n'
    (anywhere / "pyproject.toml").write_text(text)
    note = f"note: nsys-path = {nsys} comes from {anywhere / 'pyproject.toml'}"
    ordinary = run_cli("doctor", FASTRNNS_BENCH_QUIET="0").stderr.splitlines()
    assert note in ordinary
    assert "doctor: checking machine, profilers and configuration" in ordinary
    assert run_cli("doctor", FASTRNNS_BENCH_QUIET="1").stderr.splitlines() == ordinary
    (anywhere / "pyproject.toml").write_text(f"{text}[tool.fastrnns-rs.doctor]\nquiet = true\n")
    assert run_cli("doctor").stderr.splitlines() == [note]
    let_all_write(anywhere / "pyproject.toml")
    warnings = [line.partition(": ignored: ")[2] for line in run_cli("doctor").stderr.splitlines()]
    assert warnings == ["output", "", "nsys-path", ""]
