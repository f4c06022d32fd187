"""What `profile` ends with: the report of the capture, and torch's tables too where no device did anything."""

from __future__ import annotations

import gzip
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import FACTS, Done, run_cli
from nsys_exports import found
from profile_commands import REPORTS, WITH_CUDA, faked, good, kept
from test_report_opening import KERNELS, TINY
from test_report_sources import TRACE

from fastrnns_rs.cli.capture_report import render_report
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture
from fastrnns_rs.machine.facts import Facts

#: An export with kernels in it, in place of the one of the fake, whose kernels only have a start.
EXPORT = f"call.export(kernels=0, more={KERNELS!r})"
TABLE = "a table of nsys"
#: The kernel as a report at a glance names it.
SHORT = TINY[0][0].removeprefix("void ").partition("(")[0]


def reported(folder: Path, export: str = EXPORT, *more: str | Path, **named: Any) -> Done:
    """A capture with a fake that runs nothing."""
    done = faked(folder, REPORTS, *more, export=export, **named)
    assert done.status == 0, done.stderr
    return done


def report_of(out: Path) -> str:
    [record] = out.glob("*.json")
    return without_next(run_cli("report", record).stdout)


def next_command(done: Done) -> list[str]:
    """The words of the last lines, which are the command to copy."""
    return shlex.split(done.stderr.rpartition("Next:")[2])


def without_next(report: str) -> str:
    """A report without its next command, which `profile` prints last, after tables and warnings."""
    return "".join(line for line in report.splitlines(keepends=True) if not line.startswith("Next: "))


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("facts", [FACTS, WITH_CUDA], ids=["cpu", "cuda"])
def test_what_ran_on_a_device_is_reported(facts: Facts, tmp_path: Path, *, separate: bool) -> None:
    """The last lines are what `report` says of each record."""
    words = ["--separate"] if separate else []
    done = reported(tmp_path, EXPORT, *words, runners=("cudnn", "py"), facts=facts)
    records = sorted((tmp_path / "out").glob("*.json"))
    assert len(records) == 1 + separate
    reports = [without_next(run_cli("report", path).stdout) for path in records]
    assert any(done.stdout.endswith(one) for one in reports)
    assert all(one in done.stdout for one in reports)
    assert all("of span" in one and SHORT in one for one in reports)
    # It is ours alone: nsys is not asked what it makes of its own file. Before it stands where everything is.
    assert TABLE not in done.stdout
    head = done.stdout.partition("\nGPU idle")[0]
    capture = Capture.load(records[0])
    parts = [one.path.removeprefix(str(records[0].with_suffix(""))) for one in capture.artefacts]
    assert separate or all(part in head for part in (*parts, "checks passed"))


def test_into_a_file(tmp_path: Path) -> None:
    assert reported(tmp_path, EXPORT, "--output", tmp_path / "said").stdout == ""
    assert (tmp_path / "said").read_text().endswith(report_of(tmp_path / "out"))


def test_without_a_device_the_report_says_so(tmp_path: Path) -> None:
    done = reported(tmp_path, "call.export()")
    assert "No GPU activity: " in report_of(tmp_path / "out")
    assert done.stdout.endswith(report_of(tmp_path / "out"))
    assert TABLE not in done.stdout
    # Kernels of which nobody knows when they ran tell nothing.
    assert "of span" not in reported(tmp_path, "call.export(kernels=0)", out="none").stdout


def test_torch_on_a_cpu_ends_with_its_own_tables(tmp_path: Path) -> None:
    flags = ["--torch", "--rnns", "py", "cudnn", "--quick", "--device", "cpu", "--no-unprofiled", "--warmup", "0"]
    cycles = ["--schedule", "wait=0,warmup=1,active=1", "--nloops", "2", "--sleep-between-seconds", "0"]
    done = run_cli("profile", *flags, *cycles, "--output-dir", tmp_path / "out")
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    tables = [Path(one.path).read_text() for one in record.artefacts if one.kind == "torch_table"]
    assert len(tables) == 2
    assert all(table in done.stdout for table in tables)
    assert done.stdout.endswith(tables[-1])
    record_path = next((tmp_path / "out").glob("*.json"))
    assert next_command(done) == ["fastrnns-rs", "report", str(record_path), "--by", "operator"]
    assert "of span" not in done.stdout
    assert f"\n{report_of(tmp_path / 'out')}\n" in done.stdout


def test_traces_of_torch_with_kernels_are_reported(tmp_path: Path) -> None:
    """As on a GPU, which the next test has: two traces, both with a kernel that ran twice."""
    stem = tmp_path / "prof"
    paths = [stem.with_name(f"prof.{one}.0.json.gz") for one in ("py", "cudnn")]
    for path in paths:
        path.write_bytes(gzip.compress(json.dumps(TRACE).encode()))
    entries = [
        ArtefactEntry(path=path.name, kind="kineto", size_bytes=path.stat().st_size, sha256="") for path in paths
    ]
    record, _ = good(tmp_path, export=EXPORT)
    capture = replace(record, artefacts=entries)
    capture.save(stem.with_suffix(".json"))
    text, following = render_report(capture, stem, None, print)
    assert f"{text}Next: {following}\n" == run_cli("report", stem.with_suffix(".json")).stdout
    assert SHORT in text
    assert text.startswith("2 captures, kineto, ")


@pytest.mark.gpu(emulated="long")
def test_torch_on_a_gpu_ends_with_the_report(tmp_path: Path) -> None:
    flags = ["--torch", "--rnns", "cudnn", "--quick", "--device", "cuda", "--no-unprofiled"]
    done = run_cli("profile", *flags, "--sleep-between-seconds", "0", "--output-dir", tmp_path / "out")
    assert done.status == 0, done.stderr
    report = report_of(tmp_path / "out")
    assert "of span" in report
    assert done.stdout.endswith(report)


@pytest.mark.parametrize("export", [EXPORT, "call.export()"])
def test_nobody_who_does_not_want_it_gets_it(export: str, tmp_path: Path) -> None:
    assert reported(tmp_path, export, "--no-report").stdout.endswith("checks passed\n")
    assert reported(tmp_path, export, "--json", out="json").json()["schema"] == "fastrnns-rs/capture"


def test_a_capture_that_is_none_is_not_reported(tmp_path: Path) -> None:
    done = faked(tmp_path, export=f"call.export(kernels=0, ranges=['py/forward/0'], more={KERNELS!r})")
    assert (done.status, "of span" in done.stdout) == (1, False)


def test_the_report_is_of_the_redacted_file(tmp_path: Path) -> None:
    """It is read last: what was taken out of the capture is not shown."""
    named = KERNELS.replace("tiny_kernel", "tiny_kernel_hushhush")
    export = f"call.export(kernels=0, more={named!r})"
    done = reported(tmp_path, export, "--redact", FASTRNNS_TEST_SECRET="hushhush")
    [path] = (tmp_path / "out").glob("*.sqlite")
    [(name,)] = found(path, "SELECT value FROM StringIds WHERE id = 9001")
    short = name.removeprefix("void ").partition("(")[0]
    assert short in done.stdout
    assert ("hushhush" in done.stdout) is ("hushhush" in name)


def test_a_capture_that_cannot_be_read_is_noted(tmp_path: Path) -> None:
    """Whatever is wrong with it: that it was made is what matters."""
    record, _ = good(tmp_path, export=EXPORT)
    [path] = (tmp_path / "out").glob("*.json")
    [database] = (tmp_path / "out").glob("*.sqlite")
    for damage in (b"", b"no database at all", database.read_bytes()[:5000]):
        database.write_bytes(damage)
        notes: list[str] = []
        text, _ = render_report(record, path.with_suffix(""), None, notes.append)
        assert (text == "") == bool(notes), (text, notes)
        assert all(one.startswith("note: no report: ") for one in notes)
        assert len(notes) <= 1
    database.unlink()
    notes = []
    assert render_report(record, path.with_suffix(""), None, notes.append) == ("", None)
    assert notes[0].startswith("note: no report: ")


def test_tables_that_are_wider_than_the_terminal_are_named(tmp_path: Path) -> None:
    [path] = [tmp_path / "prof.py.0.txt"]
    path.write_text("a" * 81 + "\n")
    record, _ = good(tmp_path, export=EXPORT)
    entries = [ArtefactEntry(path=str(path), kind="torch_table", size_bytes=1, sha256="")]
    capture = replace(record, artefacts=entries)
    text, _ = render_report(capture, tmp_path / "prof", 80, print, whole_tables=False)
    assert text == f"Table of the profiler (py, cycle 0): less -S {path}\n"
    assert "a" * 81 in render_report(capture, tmp_path / "prof", 80, print)[0]


def test_tables_of_nvprof_are_text(tmp_path: Path) -> None:
    record, _ = good(tmp_path, export=EXPORT)
    table = tmp_path / "prof.gpu_summary.csv"
    table.write_bytes(b"Type,Time\xff\n")
    entry = ArtefactEntry(path=str(table), kind="nvprof_gpu_summary", size_bytes=1, sha256="")
    text, _ = render_report(replace(record, artefacts=[entry]), tmp_path / "prof", None, print)
    assert text == "Type,Time\ufffd\n"


def test_a_warning_is_printed_once(tmp_path: Path) -> None:
    export = f"call.export(kernels=0, more={KERNELS!r}, diagnostics=['Not all NVTX events might have been collected.'])"
    done = reported(tmp_path, export)
    assert (done.stdout + done.stderr).count("warning[events_lost]") == 1
    done = reported(tmp_path, export, "--no-report")
    assert "warning[events_lost]" in done.stderr
