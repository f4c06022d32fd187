"""Which files `report` reads for a path: those of records, and exports that nsys makes of its reports."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import fake_tools
import pytest
from conftest import Done, run_cli
from profile_commands import PRETENDED, profile
from test_report_opening import KERNELS, TINY, state

import fastrnns_rs

#: How reports of nsys begin, and streams that were never imported: that of 2022.4, and later ones.
OLD, NEW = b"NVIDIA Tegra Profiler Report 1.\n\x0bLocal", b"NVIDIA Tegra Profiler Report 2024@5@1@113-245v0.\n\x0bLocal"
STREAM = b"U3w[END]NVIDIA Nsight Systems Stream 2022.4.2.1-df9881f!\n"
#: What a fake does to export: the tables of the tiny capture.
EXPORT = (
    f"sys.path.insert(0, {str(Path(__file__).parent)!r}); import fake_tools; "
    f"fake_tools.nsys_database(Path(call.option('--output')), more={KERNELS!r})"
)
TRACE = {
    "schemaVersion": 1,
    "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": TINY[0][0], "ts": 1.0, "dur": 0.010, "args": {"device": 0, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": TINY[0][0], "ts": 2.0, "dur": 0.030, "args": {"device": 0, "stream": 7}},
    ],
}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, in which nothing may stay."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
    assert not [*folder.iterdir()]


def report(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Done:
    return run_cli("report", *arguments, cwd=cwd, **variables)


def failed(done: Done, status: int) -> tuple[str, str]:
    """The error and its hint; nothing else is said, but that nsys exports."""
    assert (done.status, done.stdout) == (status, ""), done
    [error, hint] = [line for line in done.stderr.splitlines() if not line.startswith("report: exporting ")]
    assert (error[:7], hint[:6]) == ("error: ", "hint: ")
    return error[7:], hint[6:]


def names(*paths: Path, nsys: Path | None = None) -> list[tuple[str, int, int]]:
    """The kernels of captures, each as its name, how often it ran, and how long."""
    summary = fastrnns_rs.read(*paths, nsys_path=None if nsys is None else str(nsys))
    return [(row.name, row.count, row.total_ns) for row in summary.kernels]


def file(path: Path, content: bytes = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def captured(tmp_path: Path, *flags: str) -> Path:
    """The record of a capture that a fake has made."""
    export = f"call.export(kernels=0, more={KERNELS!r})"
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=PRETENDED + "call.report()", export=export)
    done = profile(tool, tmp_path / "out", *flags)
    assert done.status == 0, done.stderr
    return next((tmp_path / "out").glob("*.json"))


@pytest.mark.parametrize("flags", [(), ("--redact",)])
def test_a_record_of_nsys_stands_for_its_export(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Redacted records name their files without folders, others with."""
    record = captured(tmp_path, *flags)
    assert names(record) == TINY
    before = state(record.parent)
    done = report(record, "--json")
    assert done.status == 0, done.stderr
    [entry] = done.json()["captures"]
    assert entry["path"] == str(next(record.parent.glob("*.sqlite")))
    assert state(record.parent) == before
    # From any folder, by any name.
    assert report(record.name, cwd=record.parent).status == 0
    link = tmp_path / "link"
    link.symlink_to(record)
    assert names(link) == TINY


@pytest.mark.parametrize("flags", [(), ("--redact",)])
def test_a_record_is_moved_and_copied_with_its_folder(flags: tuple[str, ...], tmp_path: Path) -> None:
    record = captured(tmp_path, *flags)
    copy = tmp_path / "copy" / record.name
    shutil.copytree(record.parent, copy.parent)
    [entry] = fastrnns_rs.read(copy).captures
    assert Path(entry.path).parent == copy.parent, "the copy is of itself"
    moved = tmp_path / "moved" / record.name
    record.parent.rename(moved.parent)
    assert names(moved) == names(copy) == TINY


def test_records_and_captures_are_read_together(tmp_path: Path) -> None:
    record = captured(tmp_path)
    trace = file(tmp_path / "trace", json.dumps(TRACE).encode())
    # Neither says whose device it was.
    assert names(record, trace, record) == TINY * 3


def test_a_record_without_a_file_that_can_be_read(tmp_path: Path) -> None:
    record = captured(tmp_path)
    content = json.loads(record.read_text())
    for artefacts, held in (([], "no file"), ([{**content["artefacts"][0], "kind": "torch_table"}], "torch_table")):
        record.write_text(json.dumps({**content, "artefacts": artefacts}))
        error, hint = failed(report(record), 1)
        assert f"'{record}'" in error
        assert held in error
        assert "apture again" in hint


def test_a_record_whose_file_is_gone(tmp_path: Path) -> None:
    record = captured(tmp_path)
    gone = next(record.parent.glob("*.sqlite"))
    gone.unlink()
    error, hint = failed(report(record), 1)
    assert error.startswith(f"incomplete capture: '{record}' (FILE): ")
    assert error.endswith(f"'{gone}'")
    assert "next to the manifest" in hint
    content = json.loads(record.read_text())
    [entry] = [one for one in content["artefacts"] if one["kind"] == "nsys_sqlite"]
    record.write_text(json.dumps({**content, "artefacts": [entry, {**entry, "path": "other.sqlite"}]}))
    error = failed(report(record), 1)[0]
    assert f"'{record}'" in error
    assert " and 1 more" in error


@pytest.mark.parametrize(("kind", "content"), [("nsys_report", OLD), ("nsys_stream", STREAM)])
def test_a_record_of_nothing_but_a_report_is_exported(kind: str, content: bytes, tmp_path: Path) -> None:
    """As when the export failed where it was captured."""
    tool = fake_tools.nsys(tmp_path / "newer" / "bin" / "nsys", importer="call.to_report()", export=EXPORT)
    record = captured(tmp_path)
    plain = json.loads(record.read_text())
    entry = {**plain["artefacts"][0], "kind": kind, "path": "the-report"}
    record.write_text(json.dumps({**plain, "artefacts": [entry]}))
    file(record.parent / "the-report", content)
    assert names(record, nsys=tool) == TINY


@pytest.mark.parametrize(
    "text", ['{"a": "fastrnns-rs/capture"}', '{"fastrnns-rs/capture": ' + "[" * 100_000, '"fastrnns-rs/capture']
)
def test_what_only_looks_like_a_record_is_read_as_what_it_is(text: str, tmp_path: Path) -> None:
    done = report(file(tmp_path / "x.json", text.encode()))
    assert "Traceback" not in done.stderr
    assert "fault of fastrnns-rs" not in done.stderr
    trace = {"name": '"fastrnns-rs/capture"', "schema": "fastrnns-rs/other", **TRACE}
    assert names(file(tmp_path / "trace.json", json.dumps(trace).encode())) == TINY


def test_a_record_of_a_later_release_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    record = captured(tmp_path)
    content = json.loads(record.read_text())
    record.write_text(json.dumps({**content, "schema_version": "9.0"}))
    assert str(record) in failed(report(record), 2)[0]
    record.write_text(json.dumps({**content, "artefacts": 3}))
    assert str(record) in failed(report(record), 2)[0]


@pytest.mark.parametrize("name", ["x.nsys-rep", "x.qdrep", "x.bin", "x.json", "x", "x.sqlite", "a b's %41?.nsys-rep"])
@pytest.mark.parametrize("content", [OLD, NEW, STREAM], ids=["old", "new", "stream"])
def test_a_report_is_told_by_its_content(name: str, content: bytes, tmp_path: Path) -> None:
    """And exported where nobody finds anything afterwards, under the name that the fake's version reads."""
    check = "assert Path(call.words[-1]).suffix in {'.nsys-rep', '.qdrep'}; "
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", importer="call.to_report()", export=check + EXPORT)
    path = file(tmp_path / "alone" / name, content)
    before = state(path.parent)
    assert names(path, nsys=tool) == TINY
    [entry] = fastrnns_rs.read(path, nsys_path=str(tool)).captures
    assert entry.path == str(path)
    assert state(path.parent) == before


@pytest.mark.parametrize("suffix", [".nsys-rep", ".qdrep", ".qdstrm"])
def test_what_is_no_report_is_not_taken_for_one(suffix: str, tmp_path: Path) -> None:
    """Nobody asks nsys, which is not even there."""
    plain = json.dumps(TRACE).encode()
    for content in (plain, b" \n\t" + plain, b"\xef\xbb\xbf" + plain, gzip.compress(plain)):
        path = file(tmp_path / f"x{suffix}", content)
        assert names(path, nsys=tmp_path / "none") == TINY
    path = fake_tools.nsys_database(tmp_path / f"y{suffix}", more=KERNELS)
    assert names(path, nsys=tmp_path / "none") == TINY
    for content in (b"", b"text", b"\0\1\2" * 100):
        error, _ = failed(report(file(path, content), "--nsys-path", tmp_path / "none"), 2)
        assert str(path) in error


def test_each_report_is_exported_by_the_nsys_that_was_named(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", export=EXPORT)
    paths = [file(tmp_path / one / "x.nsys-rep") for one in "ab"]
    done = report(*paths, "--json", "--nsys-path", tool)
    assert done.status == 0, done.stderr
    assert [one["path"] for one in done.json()["captures"]] == [*map(str, paths)]
    assert sum(row["count"] for row in done.json()["kernels"]) == 4
    assert report(paths[0], FASTRNNS_PROFILE_NSYS_PATH=str(tool)).status == 0
