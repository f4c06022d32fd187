"""Whether a capture is taken for one: files as they should not be, which are failed checks and never exceptions."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from capture_files import EXPECTED, NAMES, by_id, kineto, nsys, trace
from fake_tools import nsys_database, nvprof_database

from fastrnns_rs.verbs.profile import capture_checks


def test_a_file_that_is_no_database_is_one_failed_check(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    for content in (b"", b"no database at all" * 100, b"SQLite format 3\0", b"\0" * 8192):
        path.write_bytes(content)
        for found in (
            capture_checks.nsys_sqlite(path, EXPECTED, cuda=True),
            capture_checks.nvprof_profile(path, EXPECTED),
        ):
            # An empty file is a database without tables.
            assert not all(one.ok for one in found)
            assert content == b"" or (len(found), found[0].id) == (1, "opens")
    assert not nsys(tmp_path)["opens"].ok
    assert not nsys(tmp_path / "missing?mode=rwc#&%")["opens"].ok
    assert not by_id(capture_checks.nvprof_profile(tmp_path / "missing", EXPECTED))["opens"].ok
    assert sorted(tmp_path.iterdir()) == [path], "looking makes no file"


def test_a_file_cut_anywhere_is_no_capture(tmp_path: Path) -> None:
    whole = nsys_database(tmp_path / "whole.sqlite", NAMES, by_id=True, kernels=2000, diagnostics=[]).read_bytes()
    path = tmp_path / "x.sqlite"
    for length in [*range(1, len(whole), 1111), *range(4096, len(whole), 4096), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert not all(one.ok for one in capture_checks.nsys_sqlite(path, EXPECTED, cuda=True)), length


def test_a_damaged_file_is_a_failed_check_and_never_an_exception(tmp_path: Path) -> None:
    dice = random.Random(1)
    files = {
        capture_checks.nsys_sqlite: nsys_database(tmp_path / "nsys", NAMES, by_id=True, kernels=9, diagnostics=["x"]),
        capture_checks.nvprof_profile: nvprof_database(tmp_path / "nvprof", NAMES, kernels=9),
    }
    failed = 0
    for check, whole in files.items():
        content = whole.read_bytes()
        for _ in range(150):
            damaged = bytearray(content)
            for _ in range(dice.randrange(1, 60)):
                damaged[dice.randrange(len(damaged))] = dice.randrange(256)
            path = tmp_path / "damaged"
            path.write_bytes(damaged)
            found = check(path, EXPECTED, **({"cuda": True} if check is capture_checks.nsys_sqlite else {}))
            assert found
            failed += not all(one.ok for one in found)
    assert failed > 100


@pytest.mark.parametrize(
    "more",
    [
        "UPDATE NVTX_EVENTS SET text = x'00ff80'",
        "UPDATE NVTX_EVENTS SET text = CAST(x'ff80fe' AS TEXT)",
        "UPDATE NVTX_EVENTS SET text = 9223372036854775807",
        "UPDATE NVTX_EVENTS SET text = 1e999",
        "UPDATE NVTX_EVENTS SET text = zeroblob(1000000)",
        "UPDATE NVTX_EVENTS SET text = NULL, textId = 'py'",
        "UPDATE NVTX_EVENTS SET eventType = 'sixty'",
        "UPDATE NVTX_EVENTS SET end = x'00'; UPDATE NVTX_EVENTS SET text = char(0) || text",
        "DROP TABLE NVTX_EVENTS; CREATE TABLE NVTX_EVENTS (start, end)",
        "DROP TABLE NVTX_EVENTS; CREATE VIEW NVTX_EVENTS AS SELECT * FROM nowhere",
        "DROP TABLE NVTX_EVENTS; CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(text)",
        "DROP TABLE StringIds; CREATE TABLE StringIds (id, other)",
        "CREATE TABLE DIAGNOSTIC_EVENT (other)",
        'CREATE TABLE "a""b\'; DROP TABLE x" ("c""d")',
    ],
)
def test_hostile_content_is_no_exception(more: str, tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", NAMES, more=more)
    found = nsys(path)
    assert found["opens"].ok is ("ranges" in found)
    assert all(one.ok for one in found.values()) is ("DROP TABLE x" in more)
    # One row like that beside the right ones is no harm.
    if more.startswith("UPDATE") and "end" not in more:
        nsys_database(path, [*NAMES, "py/forward/9"], more=f"{more} WHERE start = {len(NAMES)}")
        assert all(one.ok for one in nsys(path).values())


def test_hostile_content_in_a_profile_of_nvprof(tmp_path: Path) -> None:
    path = tmp_path / "x.nvvp"
    for more in (
        "UPDATE StringTable SET value = x'ff'",
        "UPDATE StringTable SET value = CAST(x'ff' AS TEXT)",
        "UPDATE StringTable SET value = 5",
        "DROP TABLE StringTable; CREATE TABLE StringTable (x)",
        "DROP TABLE CUPTI_ACTIVITY_KIND_MARKER",
    ):
        found = capture_checks.nvprof_profile(nvprof_database(path, NAMES, kernels=1, more=more), EXPECTED)
        assert not all(one.ok for one in found)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "5",
        "[]",
        '"traceEvents"',
        "{}",
        {"traceEvents": None},
        {"traceEvents": 5},
        {"traceEvents": "text"},
        {"traceEvents": {"cat": 1}},
        {"traceEvents": [5]},
        {"traceEvents": [None]},
        {"traceEvents": [[]]},
        {"traceEvents": [{"cat": "user_annotation"}]},
        {"traceEvents": [{"cat": "user_annotation", "name": 5}]},
        {"traceEvents": [{"cat": "user_annotation", "name": ["x"]}]},
        "[" * 200_000,
        '{"traceEvents": [' + '{"a":' * 200_000,
        b"\xff\xfe\x00",
        b'{"traceEvents": [{"cat": "user_annotation", "name": "## \xff ##"},',
    ],
)
def test_a_trace_that_is_none_is_one_failed_check(content: Any, tmp_path: Path) -> None:
    for name in ("x.json", "x.json.gz"):
        found = [*kineto(tmp_path / name, content).values()]
        assert [(one.id, one.ok) for one in found] == [(f"opens:{name}", False)]
        assert found[0].found.startswith("it cannot be read: ")


def test_a_compressed_trace_that_is_cut_or_damaged(tmp_path: Path) -> None:
    dice = random.Random(2)
    path = tmp_path / "x.json.gz"
    whole = gzip.compress(json.dumps(trace(*(f"## {dice.random()} ##" for _ in range(500)))).encode())
    for length in range(0, len(whole), 199):
        path.write_bytes(whole[:length])
        assert not all(one.ok for one in capture_checks.kineto(path, Counter())), length
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(damaged))] ^= dice.randrange(1, 256)
        path.write_bytes(damaged)
        assert capture_checks.kineto(path, Counter())
    assert not capture_checks.kineto(tmp_path / "missing.json", Counter())[0].ok
    assert not capture_checks.kineto(tmp_path, Counter())[0].ok
