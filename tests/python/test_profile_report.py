"""What `profile` ends with: the report of the capture, and torch's tables too where no device did anything."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import fake_tools
import pytest
from conftest import FACTS, Done, run_cli
from profile_commands import PRETENDED, WITH_CUDA, kept, profile
from test_report_opening import KERNELS, TINY
from test_report_sources import TRACE

from fastrnns_rs.cli.first_look import first_look
from fastrnns_rs.documents.capture_manifest import ArtefactEntry
from fastrnns_rs.machine.environment import Facts

#: An export with kernels in it, in place of the one of the fake, whose kernels only have a start.
EXPORT = f"call.export(kernels=0, more={KERNELS!r})"
TABLE = "a table of nsys"


def tool(folder: Path, export: str = EXPORT, profile: str = PRETENDED + "call.report()") -> Path:
    """A fake that runs nothing."""
    return fake_tools.nsys(folder / "bin" / "nsys", profile=profile, export=export)


def assert_ends_with_report(done: Done, out: Path, *, captures: int = 1) -> None:
    """Its last lines are what `report` says of the record."""
    assert done.status == 0, done.stderr
    records = sorted(out.glob("*.json"))
    assert len(records) == captures
    reports = [run_cli("report", path) for path in records]
    assert all(one.status == 0 for one in reports), reports
    assert any(done.stdout.endswith(one.stdout) for one in reports)
    for one in reports:
        assert one.stdout in done.stdout
        assert "Where the time went" in one.stdout
        assert TINY[0][0] in one.stdout
    assert TABLE not in done.stdout


@pytest.mark.parametrize("facts", [FACTS, WITH_CUDA], ids=["cpu", "cuda"])
def test_what_ran_on_a_device_is_reported(facts: Facts, tmp_path: Path) -> None:
    done = profile(tool(tmp_path), tmp_path / "out", facts=facts)
    assert_ends_with_report(done, tmp_path / "out")
    record, _ = kept(tmp_path / "out")
    # Before it stands where everything is.
    head = done.stdout.partition("Captures\n")[0]
    assert [*(one.path in head for one in record.artefacts), "checks passed" in head] == [True] * 3


def test_each_capture_is_reported(tmp_path: Path) -> None:
    done = profile(tool(tmp_path), tmp_path / "out", "--separate", runners=("cudnn", "py"))
    assert_ends_with_report(done, tmp_path / "out", captures=2)


def test_into_a_file(tmp_path: Path) -> None:
    done = profile(tool(tmp_path), tmp_path / "out", "--output", tmp_path / "said")
    assert (done.status, done.stdout) == (0, ""), done.stderr
    report = run_cli("report", next((tmp_path / "out").glob("*.json")))
    assert (tmp_path / "said").read_text().endswith(report.stdout)


def test_without_a_device_the_report_says_so(tmp_path: Path) -> None:
    done = profile(tool(tmp_path, "call.export()"), tmp_path / "out")
    assert done.status == 0, done.stderr
    report = run_cli("report", next((tmp_path / "out").glob("*.json"))).stdout
    assert "no device operations" in report
    assert done.stdout.endswith(report)
    # It is ours alone: nsys is not asked what it makes of its own file.
    assert TABLE not in done.stdout


def test_kernels_of_which_nobody_knows_when_they_ran_tell_nothing(tmp_path: Path) -> None:
    done = profile(tool(tmp_path, "call.export(kernels=0)"), tmp_path / "out")
    assert done.status == 0, done.stderr
    assert "Where the time went" not in done.stdout


def test_torch_on_a_cpu_ends_with_its_own_tables(tmp_path: Path) -> None:
    flags = ["--torch", "--rnns", "py", "cudnn", "--quick", "--device", "cpu", "--no-baseline", "--warmup", "0"]
    cycles = ["--schedule", "wait=0,warmup=1,active=1", "--nloops", "2", "--sleep-between-seconds", "0"]
    done = run_cli("profile", *flags, *cycles, "--output-dir", tmp_path / "out")
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    tables = [Path(one.path).read_text() for one in record.artefacts if one.kind == "torch_table"]
    assert len(tables) == 2
    assert all(table in done.stdout for table in tables)
    assert done.stdout.endswith(tables[-1])
    assert "Where the time went" not in done.stdout
    report = run_cli("report", next((tmp_path / "out").glob("*.json"))).stdout
    assert f"\n{report}\n" in done.stdout


def test_traces_of_torch_with_kernels_are_reported(tmp_path: Path) -> None:
    """As on a GPU, which the next test has: two traces, both with a kernel that ran twice."""
    stem = tmp_path / "prof"
    paths = [stem.with_name(f"prof.{one}.0.json.gz") for one in ("py", "cudnn")]
    for path in paths:
        path.write_bytes(gzip.compress(json.dumps(TRACE).encode()))
    entries = [ArtefactEntry(path=path.name, kind="kineto", size_bytes=1, sha256="") for path in paths]
    done = profile(tool(tmp_path), tmp_path / "out")
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    capture = replace(record, artefacts=entries)
    capture.save(stem.with_suffix(".json"))
    text = first_look(capture, stem, None)
    assert text == run_cli("report", stem.with_suffix(".json")).stdout
    assert TINY[0][0] in text
    assert all(path.name in text for path in paths)


@pytest.mark.gpu
def test_torch_on_a_gpu_ends_with_the_report(tmp_path: Path) -> None:
    flags = ["--torch", "--rnns", "cudnn", "--quick", "--device", "cuda", "--no-baseline"]
    done = run_cli("profile", *flags, "--sleep-between-seconds", "0", "--output-dir", tmp_path / "out")
    assert done.status == 0, done.stderr
    report = run_cli("report", next((tmp_path / "out").glob("*.json")))
    assert (report.status, "Where the time went" in report.stdout) == (0, True)
    assert done.stdout.endswith(report.stdout)


@pytest.mark.parametrize("export", [EXPORT, "call.export()"])
def test_nobody_who_does_not_want_it_gets_it(export: str, tmp_path: Path) -> None:
    done = profile(tool(tmp_path, export), tmp_path / "out", "--no-report")
    assert done.status == 0, done.stderr
    assert done.stdout.endswith("checks passed\n")
    done = profile(tool(tmp_path, export), tmp_path / "json", "--json")
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == "fastrnns-rs/capture"


def test_a_capture_that_is_none_is_not_reported(tmp_path: Path) -> None:
    lost = f"call.export(kernels=0, ranges=['py/forward/0'], more={KERNELS!r})"
    done = profile(tool(tmp_path, lost), tmp_path / "out")
    assert done.status == 1
    assert "Where the time went" not in done.stdout


def test_the_report_is_of_the_redacted_file(tmp_path: Path) -> None:
    """It is read last: what was taken out of the capture is not shown."""
    named = KERNELS.replace("tiny_kernel", "tiny_kernel_hushhush")
    export = f"call.export(kernels=0, more={named!r})"
    done = profile(tool(tmp_path, export), tmp_path / "out", "--redact", FASTRNNS_TEST_SECRET="hushhush")
    assert done.status == 0, done.stderr
    [path] = (tmp_path / "out").glob("*.sqlite")
    with closing(sqlite3.connect(path)) as database:
        [(name,)] = database.execute("SELECT value FROM StringIds WHERE id = 9001").fetchall()
    assert name in done.stdout
    assert ("hushhush" in done.stdout) is ("hushhush" in name)


def test_a_capture_that_cannot_be_read_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is wrong with it: that it was made is what matters."""
    done = profile(tool(tmp_path), tmp_path / "out")
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    [path] = (tmp_path / "out").glob("*.json")
    [database] = (tmp_path / "out").glob("*.sqlite")
    for damage in (b"", b"no database at all", database.read_bytes()[:5000]):
        database.write_bytes(damage)
        text = first_look(record, path.with_suffix(""), None)
        said = capsys.readouterr().err
        assert (text == "") == said.startswith("note: no report: "), (text, said)
        assert said.count("\n") <= 1
    database.unlink()
    assert first_look(record, path.with_suffix(""), None) == ""
    assert capsys.readouterr().err.startswith("note: no report: ")


def test_tables_of_nvprof_are_text(tmp_path: Path) -> None:
    done = profile(tool(tmp_path), tmp_path / "out")
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    table = tmp_path / "prof.gpu_summary.csv"
    table.write_bytes(b"Type,Time\xff\n")
    entry = ArtefactEntry(path=str(table), kind="nvprof_gpu_summary", size_bytes=1, sha256="")
    assert first_look(replace(record, artefacts=[entry]), tmp_path / "prof", None) == "Type,Time\ufffd\n"
