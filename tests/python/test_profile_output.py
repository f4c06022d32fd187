"""Where captures go and what is printed of them: odd folders, full disks, names, documents, dry runs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import fake_tools
import jsonschema
import pytest
from commands import finished
from conftest import FACTS, ROOT, Done
from nsys_exports import found
from profile_commands import (
    PRETENDED,
    QUICK,
    REPORTS,
    WITH_CUDA,
    argv,
    bad,
    can_mount,
    faked,
    good,
    kept,
    prepared_for,
    pretender,
    profile,
    told,
)
from real_nsys import check_captured, nsys_is_here, tried
from real_nsys import profile as really_profile

from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.escaping import visible
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import choice
from fastrnns_rs.verbs.profile import attempt, capture_plan, capture_run, capture_storage, tools

PROBLEM = capture_plan.make_plan(Options(choice=choice(rnns=["py"]), quick=True), FACTS).tasks[0].problem


@pytest.mark.parametrize(
    "name", ["with space", "qu'o\"te", "ünïcode 日本", "$HOME;`id`", "a.b.c.", "x" * 200, "new\nline", "100%"]
)
def test_captures_go_where_they_are_told(name: str, tmp_path: Path) -> None:
    assert good(tmp_path, out=f"{name}/deeper")[0].ok


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    out = tmp_path / os.fsdecode(b"\xff\xfe")
    command = argv("--nsys", "--nsys-path", pretender(tmp_path), "--output-dir", out, "--rnns", "py", *QUICK)
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "COLUMNS": "999"})
    assert done.returncode == 0, done.stderr
    assert visible(str(out)).encode() in done.stdout
    assert Capture.load(next(out.glob("*.json"))).ok


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    places = {
        file: "File exists",
        file / "below": "Not a directory",
        Path("/proc/nothing"): "No such file or directory",
        tmp_path / ("x" * 300): "File name too long",
    }
    if os.geteuid():
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        places[locked] = "Permission denied"
    for out, reason in places.items():
        error, hint = told(profile(pretender(tmp_path), out), 2)
        assert error == f"cannot write folder: '{out}' (--output-dir): {reason}"
        assert "--output-dir" in hint


def run_where_little_fits(folder: Path, kilobytes: int, command: list[str], **variables: str) -> tuple[Done, list[str]]:
    """Runs a command where a folder has only so much room: how it ended, and what it left in there."""
    can_mount("to have a disk that is full")
    folder.mkdir()
    listing = folder.with_name("listing")
    mount = f"mount -t tmpfs -o size={kilobytes}k none {folder}"
    script = f'{mount} && "$@"; status=$?; ls -A {folder} >{listing}; exit $status'
    done = finished(["unshare", "--mount", "sh", "-c", script, "sh", *command], **variables)
    return done, listing.read_text().split()


@pytest.mark.parametrize(("kilobytes", "bytes_of_report"), [(64, 200_000), (4, 200_000), (4, 10)])
def test_a_disk_that_is_full(kilobytes: int, bytes_of_report: int, tmp_path: Path) -> None:
    """Whatever does not fit: the report, the log, or the record."""
    noise = "print('n' * 30_000); " if bytes_of_report < 100 else ""
    writes = f"{PRETENDED}{noise}call.file('.nsys-rep').write_bytes(b'x' * {bytes_of_report})"
    tool = fake_tools.nsys(tmp_path / "nsys", profile=writes, export="pass")
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
    done, left = run_where_little_fits(tmp_path / "out", kilobytes, argv(*asked))
    error, hint = told(done, 1)
    assert "disk is full" in error or "No space left on device" in error
    assert "--output-dir" in hint
    assert any(name.endswith(".log") for name in left)
    assert not any(name.endswith(".answer.json") for name in left)


@pytest.mark.long("profilers")
@nsys_is_here
def test_a_disk_that_is_full_and_the_real_nsys(tmp_path: Path) -> None:
    def attempt(place: Path) -> tuple[Done, list[str]]:
        asked = ["--nsys", "--output-dir", place / "out", "--rnns", "cudnn", *QUICK]
        done, left = run_where_little_fits(place / "out", 100, argv(*asked), TMPDIR=str(tmp_path))
        if "disk is full" not in done.stderr:
            check_captured(done, place / "out")
        return done, left

    done, left = tried(attempt, tmp_path)
    error, hint = told(done, 1)
    assert error.endswith("(the disk is full)")
    assert "--output-dir" in hint
    # nsys writes elsewhere first.
    assert "nsys left its report in " in hint
    assert sorted(Path(name).suffix for name in left) == [".json", ".log"]


def test_a_profile_that_is_delivered_to_a_full_device(tmp_path: Path) -> None:
    with open("/dev/full", "w") as nowhere:
        asked = ["--nsys", "--nsys-path", pretender(tmp_path), "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
        done = subprocess.run(argv(*asked), stdout=nowhere, stderr=subprocess.PIPE, text=True, check=False)
    assert told(Done(done.returncode, "", done.stderr), 1)[0].endswith(": No space left on device")
    assert kept(tmp_path / "out")[0].ok


def test_names_are_never_taken_twice(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        stems = [*pool.map(lambda _: file_names.reserve(tmp_path, ["py"], PROBLEM), range(200))]
    assert len({*stems}) == 200
    assert {one.stat().st_size for one in tmp_path.iterdir()} == {0}


@pytest.mark.parametrize("redact", [False, True])
@pytest.mark.parametrize("kind", ["chrome", "tensorboard"])
def test_captures_of_one_second_in_two_folders_share_no_trace(
    kind: str, redact: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both write their traces to one folder, under names that begin with the stem."""
    stems: list[str] = []

    def child(_request: object, _plan: object, stem: Path, _answer: str | None) -> list[str]:
        stems.append(stem.name)
        return [sys.executable, "-c", ""]

    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    monkeypatch.setattr(file_names, "datetime", SimpleNamespace(now=lambda _: now))
    monkeypatch.setattr(capture_run, "child_command", child)
    prepared = prepared_for(tools.choose("torch"))
    options = replace(prepared.request.torch, on_trace_ready=f"{kind}:{tmp_path / 'traces'}")
    prepared = replace(prepared, request=replace(prepared.request, torch=options))
    for out in ("one", "other"):
        with pytest.raises(capture_run.CaptureError):
            capture_run.capture(prepared, capture_run.Place(folder=tmp_path / out, redact=redact, baseline=False))
    one, other = stems
    assert one != other
    assert "_20260102T030405Z-" in one


ODD = ["x" * 400, "日本" * 100, "a/../../b", "new\nline", "-", "ä ö", "."]


@pytest.mark.parametrize("runners", [*([name] for name in ODD), [f"runner {number}" for number in range(20)]])
def test_whatever_runners_are_called_a_capture_has_a_short_name(runners: list[str], tmp_path: Path) -> None:
    stem = file_names.reserve(tmp_path, runners, PROBLEM)
    assert stem.parent == tmp_path
    # Sessions of nsys have at most 127 letters.
    assert len(stem.name.encode()) < 127
    assert stem.name.isprintable()
    assert ("-and-19-more_" in stem.name) is (len(runners) > 1)


def test_tables_of_runners_with_like_names_are_two(tmp_path: Path) -> None:
    names = ["a.b", "a_b", "a/b", "x" * 300, "x" * 301]
    cycles = [{"runner": name, "index": 0, "table": f"of {name}", "files": []} for name in names]
    one = attempt.Attempt(tmp_path / "prof_x", 1.0, answer={"cycles": cycles})
    capture_storage.save_tables(one)
    paths = [Path(cycle["files"][0][0]) for cycle in one.cycles]
    assert [path.read_text() for path in paths] == [f"of {name}" for name in names]


def test_progress_reads_a_report_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing long reports takes time from the runner."""
    one = attempt.Attempt(tmp_path / "prof_x", 1.0)
    assert one.read_progress() == {}
    runner = {"name": "py", "status": "running", "phases": []}
    for count in (1, 2):
        one.answer_path.write_text(json.dumps({"runners": [runner] * count}))
        assert [entry["name"] for entry in one.read_progress()["runners"]] == ["py"] * count
        with monkeypatch.context() as patch:
            patch.setattr(attempt, "read_answer", None)
            assert one.read_progress() == {}
    assert len(one.said()["runners"]) == 2


def test_separate_captures_and_one_that_fails(tmp_path: Path) -> None:
    breaks = "'py' in call.names and sys.exit(9); call.pretend(); call.report()"
    done = faked(tmp_path, breaks, "--separate", out="good", runners=("aten", "cudnn"))
    assert done.status == 0, done.stderr
    assert sorted(Capture.load(path).runners for path in (tmp_path / "good").glob("*.json")) == [["aten"], ["cudnn"]]
    assert done.stdout.count("6 of 6 checks passed") == 2
    error, _ = bad(tmp_path, breaks, "--separate", out="bad", runners=("aten", "py", "cudnn"))
    assert "nsys ended without having run anything: exit status 9" in error
    assert len([*(tmp_path / "bad").glob("*.json")]) >= 2


@pytest.mark.parametrize("ok", [True, False])
def test_json_is_one_document_that_keeps_to_its_schema(tmp_path: Path, *, ok: bool) -> None:
    statements = REPORTS if ok else PRETENDED + "print('noise')"
    done = faked(tmp_path, statements, "--json", runners=("py", "compile_scan"))
    assert done.status == (0 if ok else 1)
    schema = json.loads((ROOT / "docs" / "schemas" / "capture.schema.json").read_text())
    document = done.json()
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert kept(tmp_path / "out")[0].to_dict() == document


def test_a_record_can_go_to_a_file(tmp_path: Path) -> None:
    done = faked(tmp_path, REPORTS, "--json", "--output", tmp_path / "record.json")
    assert (done.status, done.stdout) == (0, "")
    assert Capture.load(tmp_path / "record.json") == kept(tmp_path / "out")[0]


@pytest.mark.parametrize("facts", [FACTS, WITH_CUDA], ids=["cpu", "cuda"])
def test_a_dry_run_shows_a_command_that_a_shell_takes(facts: Facts, tmp_path: Path) -> None:
    out = tmp_path / "o u't"
    tool = fake_tools.nsys(tmp_path / "b i n" / "nsys", profile="Path('ran').write_text(repr(call.words))")
    done = profile(tool, out, "--dry-run", "--redact", runners=("py", "cudnn"), facts=facts)
    assert (done.status, done.stderr) == (0, "")
    assert not out.exists()
    words = shlex.split(done.stdout)
    assert done.stdout == shlex.join(words) + "\n"
    subprocess.run(["/bin/sh", "-c", done.stdout], check=True, cwd=tmp_path)
    assert (tmp_path / "ran").read_text() == repr(words[1:])
    assert words[0] == str(tool)
    assert "--internal-run" in words
    assert "--answer" not in words
    assert ("--capture-range=cudaProfilerApi" in words) is (facts is WITH_CUDA)


@pytest.mark.long("profilers")
@nsys_is_here
def test_the_real_nsys_writes_to_an_odd_folder(tmp_path: Path) -> None:
    _, out = really_profile(tmp_path / "o u'\"t ü日 100% %h", "--nsys", "--rnns", "cudnn", *QUICK, "--json")
    record, _ = kept(out)
    assert record.ok
    [path] = out.glob("*.sqlite")
    assert found(path, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60") == [(4,)]


def test_a_flag_for_several_captures_wins_over_configured_json(tmp_path: Path) -> None:
    done = faked(tmp_path, REPORTS, "--processes", "2", FASTRNNS_PROFILE_JSON="1")
    assert (done.status, done.stdout.startswith("{")) == (0, False), done.stderr
    variables = {"FASTRNNS_PROFILE_JSON": "1", "FASTRNNS_PROFILE_SEPARATE": "1"}
    done = faked(tmp_path, REPORTS, "--processes", "2", **variables)
    assert (done.status, done.stdout.startswith("{")) == (0, False), done.stderr
    done = faked(tmp_path, REPORTS, "--processes", "2", "--json")
    assert (done.status, "--json and --processes exclude each other" in done.stderr) == (2, True)
