"""File names as long and as odd as a file system allows them."""

from __future__ import annotations

from pathlib import Path

import kineto_traces
import pytest
import run_files
from commands import run_cli

from fastrnns_rs import Run, UsageError
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture, CheckEntry, ToolEntry


@pytest.mark.parametrize("name", ["x" * 255, "x" * 250 + ".json", "日" * 85], ids=["255", "suffix", "utf-8"])
def test_every_name_of_255_bytes_is_legal(tmp_path: Path, name: str) -> None:
    run = tmp_path / "run.json"
    run_files.run([run_files.result()]).save(run)
    (tmp_path / "here").mkdir()
    place = tmp_path / "here" / name
    done = run_cli("show", run, "--json", "--output", place)
    assert (done.status, done.stderr) == (0, "")
    assert place.read_bytes()
    assert [*place.parent.iterdir()] == [place]


#: The words before a name that a command writes to, and those before a name that it reads.
WRITING = {
    "bench": ("bench", "--rnns", "py", "--output"),
    "ab": ("ab", "cudnn", "py", "--output"),
    "verify": ("verify", "--rnns", "py", "--output"),
    "profile": ("profile", "--torch", "--rnns", "py", "--quick", "--dry-run", "--output"),
    "show": ("show", "run.json", "--output"),
    "compare": ("compare", "run.json", "run.json", "--output"),
    "report": ("report", "trace.json", "--output"),
    "trace": ("report", "trace.json", "--trace"),
    "doctor": ("doctor", "--output"),
}
READING = {
    "runner-file": ("bench", "--runner-file"),
    "resume": ("bench", "--resume"),
    "inductor": ("inductor",),
    "show": ("show",),
    "compare": ("compare", "run.json"),
    "report": ("report",),
    "categories": ("report", "trace.json", "--categories"),
}
#: Names that no file can have there, and what the system says of each.
ILLEGAL = {
    "x" * 256: "File name too long",
    "a/" * 2100 + "x": "File name too long",
    "loop": "Too many levels of symbolic links",
    "loop/x": "Too many levels of symbolic links",
    "run.json/x": "Not a directory",
}
IDS = ["name", "path", "loop", "below a loop", "below a file"]


@pytest.fixture
def folder(anywhere: Path) -> Path:
    run_files.run([run_files.result()]).save(anywhere / "run.json")
    kineto_traces.write(anywhere / "trace.json", [kineto_traces.kernel()])
    (anywhere / "loop").symlink_to("other")
    (anywhere / "other").symlink_to("loop")
    return anywhere


@pytest.mark.parametrize(
    ("name", "reason"), [*ILLEGAL.items(), ("./sub/", "the path is a folder")], ids=[*IDS, "a folder"]
)
@pytest.mark.parametrize("verb", WRITING)
def test_a_name_that_no_file_can_have_is_a_usage_error(folder: Path, verb: str, name: str, reason: str) -> None:
    before = sorted(folder.iterdir())
    done = run_cli(*WRITING[verb], name)
    error, hint = done.stderr.splitlines()
    assert done.status == 2
    assert error.startswith("error: ")
    assert error.endswith(f": {name!r} ({WRITING[verb][-1]}): {reason}")
    assert hint.startswith("hint: ")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ILLEGAL, ids=IDS)
@pytest.mark.parametrize("verb", READING)
def test_a_name_that_no_file_can_have_is_not_read(folder: Path, verb: str, name: str) -> None:
    done = run_cli(*READING[verb], name)
    assert done.status in {1, 2, 5}
    assert len(done.stderr.splitlines()) == 2
    assert name in done.stderr
    assert "fault of fastrnns-rs" not in done.stderr


def test_a_configured_name_with_a_zero(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.fastrnns-rs.verify]\noutput = "a\\u0000b"\n')
    done = run_cli("verify", "--rnns", "py")
    error, _ = done.stderr.splitlines()
    assert done.status == 2
    assert r": 'a\x00b' (" in error
    assert "output" in error
    assert error.endswith(": embedded null byte")


def test_a_file_is_no_folder_of_runs(folder: Path) -> None:
    before = (folder / "run.json").read_bytes()
    for verb in ("history", "bench"):
        done = run_cli(verb, "--history", "run.json")
        error, hint = done.stderr.splitlines()
        assert done.status == 2
        assert error.endswith(": 'run.json' (--history): the path is a file")
        assert "folder" in hint
    assert (folder / "run.json").read_bytes() == before


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 256])
def test_a_name_that_is_none_is_a_usage_error_in_python_too(folder: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        Run.load("run.json").save(name)
    assert repr(name) in caught.value.message
    assert caught.value.hint


def record(*files: tuple[str, str]) -> Capture:
    """The record of a capture with files of these names and kinds."""
    return Capture(
        tool=ToolEntry(name="torch", path=None, version=None),
        command=[],
        started_utc="2026-01-01T00:00:00Z",
        duration_ns=1,
        exit_status=0,
        signal=None,
        timed_out=False,
        artefacts=[ArtefactEntry(path=name, kind=kind, size_bytes=1, sha256="") for name, kind in files],
        checks=[CheckEntry(id="one", expected="", found="", ok=True)],
        profiled_over_unprofiled=None,
        warnings=[],
        runners=["py"],
        problem=run_files.PROBLEM,
        iterations=1,
        phases=["forward"],
    )


@pytest.mark.parametrize("name", ["x" * 256, "a\0b", "loop", "loop/x", "run.json/x"])
@pytest.mark.parametrize("kind", ["kineto", "torch_table"])
def test_a_record_of_files_that_cannot_be(folder: Path, kind: str, name: str) -> None:
    (folder / "captured").mkdir()
    (folder / "trace.json").rename(folder / "captured" / "trace.json")
    for link in ("loop", "other"):
        (folder / link).rename(folder / "captured" / link)
    record((name, kind), *[("trace.json", "kineto")] * (kind != "kineto")).save("captured/record.json")
    for words in (["report", "captured"], ["compare", "captured", "captured"], ["report", "captured/record.json"]):
        done = run_cli(*words)
        assert "fault of fastrnns-rs" not in done.stderr
        assert "Traceback" not in done.stderr
    if kind == "kineto":
        error, _ = done.stderr.splitlines()
        assert done.status == 1
        assert error.startswith("error: incomplete capture: 'captured/record.json' (FILE): ")
        assert repr(str(folder / "captured" / name)) in error
    else:
        assert (done.status, done.stderr) == (0, "")
