"""Whether a capture is taken for one: files as profilers write them, and as they should not be."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from capture_files import EXPECTED, NAMES, by_id, kineto, nsys, trace
from corpus import captures
from fake_tools import nsys_database, nvprof_database

from fastrnns_rs.verbs.profile import capture_checks

ODD = [
    "a/b",
    "forward",
    "new\nline",
    "ünïcode 日本",
    "quote'\"`",
    "%s %n",
    "x" * 300,
    " ",
    "py/forward/0",
    "-",
    "\x1b[31m",
]


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("runner", ["py", *ODD])
def test_ranges_are_found_whatever_the_runner_is_called(runner: str, tmp_path: Path, *, by_name: bool) -> None:
    expected = capture_checks.expected_ranges({runner: ["forward", "backward"]}, range(3))
    assert expected == Counter(f"{runner}/{phase}/{index}" for phase in ("forward", "backward") for index in range(3))
    path = nsys_database(tmp_path / "x.sqlite", expected, by_id=not by_name)
    found = nsys(path, expected)
    assert list(found) == ["opens", "ranges", "event_loss"]
    assert all(one.ok for one in found.values()), found
    assert (found["ranges"].expected, found["ranges"].found) == ("6 ranges", "6 ranges")


def test_what_is_missing_or_too_many_is_named(tmp_path: Path) -> None:
    """Ranges of others do not count: those of libraries, and another kind, such as what a push and a pop make."""
    path = tmp_path / "x.sqlite"
    assert nsys(nsys_database(path, [*NAMES, "forward", "py/forward", "py/forward/x", "py/sideways/0", ""]))[
        "ranges"
    ].ok
    assert nsys(nsys_database(path, NAMES, kind=59))["ranges"].found.startswith("0 ranges, 6 missing: ")
    for ranges, unended, said in (
        (NAMES[1:], [], f"5 ranges, 1 missing: {NAMES[0]}"),
        ([*NAMES, NAMES[2], "aten/forward/0"], [], f"8 ranges, 2 too many: {NAMES[2]}, aten/forward/0"),
        ([], [], f"0 ranges, 6 missing: {', '.join(NAMES[:3])}, …"),
        (NAMES[2:], NAMES[:2], f"4 ranges, 2 missing: {', '.join(NAMES[:2])}"),
    ):
        found = nsys(nsys_database(path, ranges, unended=unended))["ranges"]
        assert (found.ok, found.found) == (False, said)


def test_a_runner_that_failed_may_have_any_ranges(tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", [*NAMES, "raises/forward/0"])
    assert not nsys(path)["ranges"].ok
    assert nsys(path, failed={"raises"})["ranges"].ok
    assert not nsys(path, failed={"raise", "raises/forward"})["ranges"].ok
    path = nvprof_database(tmp_path / "x.nvvp", [*NAMES, "raises/forward/0"], kernels=1)
    assert by_id(capture_checks.nvprof_profile(path, EXPECTED, failed={"raises"}))["ranges"].ok


@pytest.mark.parametrize("drop", ["NVTX_EVENTS", "StringIds"])
def test_tables_come_into_being_with_their_first_row(drop: str, tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", NAMES, more=f"DROP TABLE {drop}")
    found = nsys(path)
    assert found["opens"].ok
    assert found["ranges"].ok == (drop == "StringIds")


@pytest.mark.parametrize(("kernels", "graphs"), [(0, 0), (2, 0), (0, 2), (5, 1)])
def test_with_a_gpu_there_are_kernels_or_graphs(kernels: int, graphs: int, tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", NAMES, kernels=kernels, graphs=graphs)
    assert "kernels" not in nsys(path)
    found = nsys(path, cuda=True)["kernels"]
    assert (found.ok, found.found) == (kernels + graphs > 0, f"{kernels} kernels, {graphs} graphs")


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_trace_holds_the_marks(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    expected = capture_checks.expected_marks(["forward", "backward"], 2)
    marks = [*expected.elements()]
    found = kineto(path, trace(*marks, "ProfilerStep#3", "Optimizer.step"), expected)
    assert [*found] == [f"opens:{name}", f"ranges:{name}"]
    assert all(one.ok for one in found.values())
    assert found[f"opens:{name}"].found == "6 events"
    for names, said in (
        (marks[1:], "3 ranges, 1 missing: ## forward ##"),
        ([*marks, "## up ##"], "5 ranges, 1 too many: ## up ##"),
        ([], "0 ranges, 4 missing: ## forward ##, ## backward ##"),
    ):
        found = kineto(path, trace(*names), expected)
        assert (found[f"ranges:{name}"].ok, found[f"ranges:{name}"].found) == (False, said)


def test_a_profile_of_nvprof(tmp_path: Path) -> None:
    path = tmp_path / "x.nvvp"
    found = by_id(capture_checks.nvprof_profile(nvprof_database(path, NAMES, kernels=2), EXPECTED))
    assert [(one.id, one.ok) for one in found.values()] == [("opens", True), ("kernels", True), ("ranges", True)]
    found = by_id(capture_checks.nvprof_profile(nvprof_database(path, NAMES[1:], unended=NAMES[:1]), EXPECTED))
    assert (found["kernels"].ok, found["kernels"].found) == (False, "0 kernels")
    assert found["ranges"].found == f"5 ranges, 1 missing: {NAMES[0]}"
    path.write_text("<?xml version='1.0'?><session/>")
    assert not by_id(capture_checks.nvprof_profile(path, EXPECTED))["opens"].ok


def test_the_events_of_a_trace_are_not_kept(tmp_path: Path) -> None:
    """As Python objects they take several times the memory of their text, of which reading takes two copies."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {"Ev Idx": 7, "Input Dims": [[8, 8], [8, 8]]}}
    mark = {"ph": "X", "cat": "user_annotation", "name": "## forward ##"}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"traceEvents": [event | {"ts": count} for count in range(20_000)] + [mark]}))
    tracemalloc.start()
    try:
        found = capture_checks.kineto(path, Counter({"## forward ##": 1}))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert all(one.ok for one in found)
    assert found[0].found == "20001 events"
    assert peak < 3 * path.stat().st_size


@pytest.mark.parametrize(("content", "found"), [(None, "no file"), (b"", "an empty file"), (b"abc", "3 bytes")])
def test_a_file_is_written(content: bytes | None, found: str, tmp_path: Path) -> None:
    path = tmp_path / "a b.x"
    if content is not None:
        path.write_bytes(content)
    one = capture_checks.written(path)
    assert (one.id, one.found, one.ok) == ("written:a b.x", found, content == b"abc")
    assert not capture_checks.written(tmp_path).ok


KINDS = ("nsys/*.sqlite", "nvprof/*.prof", "kineto/hta_cpu_only.json.gz")


@pytest.mark.parametrize("path", [path for kind in KINDS for path in captures(kind)])
def test_public_captures_open_and_lost_nothing(path: Path) -> None:
    check = {".sqlite": partial(capture_checks.nsys_sqlite, cuda=True), ".prof": capture_checks.nvprof_profile}
    found = by_id(check.get(path.suffix, capture_checks.kineto)(path, Counter()))
    assert [one.id for one in found.values() if not one.ok] == ["kernels"] * (path.name == "cpuonly_2023.4.sqlite")
    assert next(iter(found)).startswith("opens")
    assert path.suffix != ".sqlite" or found["event_loss"].found == "none"


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
        *("", "{", "null", "5", "[]", '"traceEvents"', "{}", "[" * 200_000, '{"traceEvents": [' + '{"a":' * 200_000),
        *(
            {"traceEvents": one}
            for one in (None, 5, "text", {"cat": 1}, [5], [None], [[]], ["## forward ##"], [["## forward ##"]])
        ),
        *({"traceEvents": [{"cat": "user_annotation", **one}]} for one in ({}, {"name": 5}, {"name": ["x"]})),
        *(b"\xff\xfe\x00", b'{"traceEvents": [{"cat": "user_annotation", "name": "## \xff ##"},'),
    ],
    ids=lambda content: str(content)[:40],
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
