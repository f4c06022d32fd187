"""Importers and exports of nsys that fail, hang, or leave what cannot be redacted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import fake_tools
import pytest
from commands import finished
from profile_commands import PRETENDED, QUICK, REPORTS, argv, bad, good, kept, profile, told, without_tools

from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.verbs.profile import assessment, tools
from fastrnns_rs.verbs.profile.attempt import Attempt


def test_a_raw_capture_without_an_importer(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile=RAW)
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
    error, hint = told(finished(without_tools(argv(*asked))), 1)
    left = next((tmp_path / "out").glob("*.qdstrm"))
    assert error == f"nsys left {left}, and the QdstrmImporter that makes a report of it is not here"
    assert hint == f"install the whole of Nsight Systems, or elsewhere: QdstrmImporter --input-file {left}"
    record, _ = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == ["nsys_stream"]
    # Elsewhere it can be read.
    tool = fake_tools.nsys(tmp_path / "elsewhere" / "bin" / "nsys", importer="call.to_report()")
    opened = tools.choose("nsys", str(tool))
    stem = left.with_name(left.name.removesuffix(".qdstrm"))
    while (step := opened.finish(stem)) is not None:
        subprocess.run(step, check=True)
    assert left.with_suffix(".sqlite").is_file()


RAW = PRETENDED + "call.report('.qdstrm')"
IMPORTERS = {
    "works": ("call.to_report()", None),
    "fails": ("sys.exit('cannot import')", "found no file"),
    "writes an empty file": ("Path(call.option('--output-file')).touch()", "found no file"),
    "is content and does nothing": ("pass", "found no file"),
    "refuses a newer report": ("sys.exit('Version number is invalid: 2024@5@1')", "newer nsys than the one that reads"),
}


@pytest.mark.parametrize("case", IMPORTERS)
def test_an_importer(case: str, tmp_path: Path) -> None:
    statements, reason = IMPORTERS[case]
    if reason is None:
        good(tmp_path, RAW, importer=statements)
        kinds = ["nsys_sqlite", "nsys_report"]
    else:
        assert reason in bad(tmp_path, RAW, importer=statements)[0]
        # The only thing of worth stays, without --keep.
        kinds = ["nsys_report", "nsys_stream"] if "empty" in case else ["nsys_stream"]
    record, log = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == kinds
    assert log.count("QdstrmImporter --input-file") == 1, "it is not run again"


def test_steps_that_undo_each_other_end(tmp_path: Path) -> None:
    bad(tmp_path, RAW, importer="call.to_report()", export="Path(call.words[-1]).unlink()")
    _, log = kept(tmp_path / "out")
    assert [log.count(step) for step in ("QdstrmImporter --input-file", "nsys export")] == [1, 1]


def test_an_importer_that_cannot_be_started(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", importer="pass", profile=RAW)
    importer = tmp_path / "host-linux-x64" / "QdstrmImporter"
    importer.write_bytes(b"\x7fELF of another machine")
    error, _ = told(profile(tool, tmp_path / "out"), 1)
    assert f"'{importer}'" in error
    assert error.endswith(": Exec format error")
    record, _ = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == ["nsys_stream"]


EXPORTS = {
    "says ERROR and is content": ("print('ERROR: the export failed')", "found no file"),
    "fails": ("sys.exit('Version number is invalid: 2025')", "newer nsys than the one that reads it"),
    "writes an empty file": ("Path(call.option('--output')).touch()", "found an empty file"),
    "writes half of it": (
        "call.export(); path = Path(call.option('--output')); path.write_bytes(path.read_bytes()[:9000])",
        "opens: expected a SQLite file, found it cannot be read: ",
    ),
    "writes two tables": ("call.export(more='DROP TABLE NVTX_EVENTS')", "found 0 ranges, 4 missing: py/forward/0"),
    "writes something else": ("Path(call.option('--output')).write_text('SQLite')", "read: file is not a database"),
    "loses a range": ("call.export(ranges=['py/forward/0'])", "1 ranges, 3 missing"),
    "is killed": ("import os; os.kill(os.getpid(), 9)", "found no file"),
}


@pytest.mark.parametrize("case", EXPORTS)
def test_an_export_that_fails(case: str, tmp_path: Path) -> None:
    statements, reason = EXPORTS[case]
    error, _ = bad(tmp_path, export=statements)
    assert error.startswith("there is no valid capture: ")
    assert reason in error
    record, log = kept(tmp_path / "out")
    assert "nsys_report" in [one.kind for one in record.artefacts]
    assert not record.ok
    assert log.count(" export --type=sqlite ") == 1


def test_lost_events_are_a_warning_where_all_ranges_are_there(tmp_path: Path) -> None:
    lost = "Not all NVTX events might have been collected."
    record, _ = good(tmp_path, export=f"call.export(diagnostics=['{lost}'])", out="whole")
    assert [(one.code, one.evidence) for one in record.warnings] == [("events_lost", lost)]
    assert record.ok
    record, _ = good(tmp_path, export="call.export(diagnostics=['0 events were lost'])", out="nothing lost")
    assert record.warnings == []
    bad(tmp_path, export=f"call.export(diagnostics=['{lost}'], ranges=['py/forward/0'])", out="missing")
    record, _ = kept(tmp_path / "missing")
    assert [one.id for one in record.checks if not one.ok] == ["ranges", "event_loss"]
    assert record.warnings == []


def test_an_export_that_hangs(tmp_path: Path) -> None:
    error, _ = bad(tmp_path, REPORTS, "--timeout", "2.5", export="time.sleep(600)", status=ExitCode.TIMED_OUT)
    assert error.startswith("nsys was not done in time")
    assert [one.kind for one in kept(tmp_path / "out")[0].artefacts] == ["nsys_report"]


def test_an_export_that_fails_is_redacted_or_removed(tmp_path: Path) -> None:
    """What cannot be redacted must not stay: half a file, and one that can be read but not be rewritten."""
    error, _ = bad(tmp_path, REPORTS, "--redact", export=EXPORTS["writes half of it"][0])
    assert "opens: expected a SQLite file" in error
    record, _ = kept(tmp_path / "out")
    assert (record.artefacts, record.ok) == ([], False)
    viewed = "call.export(more='CREATE TABLE META_DATA_CAPTURE (other)')"
    good(tmp_path, export=viewed, out="plain")
    error, hint = bad(tmp_path, REPORTS, "--redact", export=viewed, out="viewed")
    assert ".sqlite': no such column: " in error
    assert "removed" in error
    assert "--redact" in hint
    assert not kept(tmp_path / "viewed")[0].artefacts


def test_what_went_wrong_is_told_though_the_log_is_redacted(tmp_path: Path) -> None:
    error, hint = bad(tmp_path, "print('error: hush-hush'); sys.exit(2)", "--redact")
    assert error == "nsys ended without having run anything: hush-hush"
    [log] = (tmp_path / "out").glob("*.log")
    assert hint == f"without --redact {log} has what was printed too"
    assert "hush-hush" not in kept(tmp_path / "out")[1]


def test_a_redacted_log_is_without_output(tmp_path: Path) -> None:
    """Also where that looks like the log's own lines."""
    prints = "print('# hush-hush'); print('hush-hush', file=sys.stderr); "
    record, log = good(tmp_path, prints + REPORTS, "--redact")
    assert "hush-hush" not in log
    assert "# exit status 0 after" in log
    assert [one.kind for one in record.artefacts] == ["nsys_sqlite"]


def test_empty_lines_without_end_name_no_report(tmp_path: Path) -> None:
    """Each of them was the begin of a search through the others, which took minutes."""
    attempt = Attempt(tmp_path / "prof_x", 1.0)
    assert assessment._left_elsewhere("Generated:" + "\n" * 65_000 + "x", attempt) == ""


def test_an_answer_of_many_levels_is_none(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path / "prof_x", 1.0)
    attempt.answer_path.write_text("[" * 100_000)
    assert attempt.said() == {}
