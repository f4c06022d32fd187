"""What `report` makes of ranges of NVTX in exports of nsys, against nsys' own figures and a plain look at every pair.

An operation belongs to a range when the call that launched it starts within the range, bounds included, on its thread;
a range that was started and ended is that of its whole process. nsys agrees for ranges that are pushed and popped and
surround whole calls, as those of programs do. It gives ranges that are started and ended to their thread alone, or to
none if they end on another, and has a range that was never closed end with the last row of its table, not with the
capture: these are held against the plain look alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from corpus import capture, captures
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from nsys_exports import BACKTRACE, DOMAIN, PUSHED, STARTED, Export, changed, found, stats, thread
from real_nsys import nsys_is_here

import fastrnns_rs
from fastrnns_rs.documents.summary_ranges import RangeRow

with_ranges = pytest.mark.parametrize(
    "path", [one for one in captures("nsys/*.sqlite") if re.search("h100_2gpu|mfu|fuser|saxpy|nsys/", str(one.id))]
)
OPEN = np.iinfo(np.int64).max
#: Whole names of ranges do not tell calls of one operator apart.
OF_ONE_CALL = re.compile(r", (?:seq|op_id) = \d+")
PROCESS = 0xFFFFFF << 24


def common(name: str | None) -> str | None:
    return None if name is None else OF_ONE_CALL.sub("", name)


class Row(NamedTuple):
    """A row of ours, as far as a plain look goes."""

    count: int = 0
    host_total_ns: int = 0
    gpu_inclusive_ns: int = 0
    gpu_exclusive_ns: int = 0
    kernel_count: int = 0

    @classmethod
    def of(cls, row: RangeRow) -> Row:
        return cls(*(getattr(row, field) for field in cls._fields))


Rows = dict[tuple[str, str | None], Row]


def ours(path: Path) -> Rows:
    rows = fastrnns_rs.read(path).ranges
    assert {row.kind for row in rows} <= {"nvtx"}
    assert len({(row.name, row.domain) for row in rows}) == len(rows), "two rows have the same name"
    return {(row.name, row.domain): Row.of(row) for row in rows}


def plain(path: Path) -> Rows:
    """The same, by looking for every operation at every range."""
    strings: dict[int, str] = dict(found(path, "SELECT id, value FROM StringIds"))
    table = "FROM NVTX_EVENTS WHERE eventType"
    domains: dict[tuple[int, int], str] = {}
    for of, number, text, text_id in found(path, f"SELECT globalTid, domainId, text, textId {table} = {DOMAIN}"):
        domains.setdefault((of & PROCESS, number), text or strings[text_id])
    columns = "start, end, eventType, globalTid, domainId, coalesce(text, textId)"
    kinds = f"({PUSHED}, {STARTED}) AND (end IS NULL OR end >= start)"
    ranges = found(path, f"SELECT {columns} {table} IN {kinds}")
    names = [strings[name] if isinstance(name, int) else name or "[no name]" for *_, name in ranges]
    keys = [
        (str(common(name)), domains.get((of & PROCESS, domain)) if domain else None)
        for name, (_, _, _, of, domain, _) in zip(names, ranges, strict=True)
    ]
    starts = np.array([start for start, *_ in ranges], dtype=np.int64)
    ends = np.array([OPEN if end is None else end for _, end, *_ in ranges], dtype=np.int64)
    is_shared = np.array([kind == STARTED for _, _, kind, *_ in ranges], dtype=bool)
    threads = np.array([of for *_, of, _, _ in ranges], dtype=np.int64)

    count, host, inclusive, exclusive, kernels = (Counter() for _ in range(5))
    for key, (start, end, *_) in zip(keys, ranges, strict=True):
        count[key] += 1
        host[key] += 0 if end is None else end - start
    calls: dict[tuple[int, int], tuple[int, int]] = {}
    columns, usual = "globalTid, correlationId, start", f"eventClass <> {BACKTRACE} AND correlationId > 0"
    for of, correlation, start in found(path, f"SELECT {columns} FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE {usual}"):
        calls.setdefault((of & PROCESS, correlation), (of, start))
    for kind in ("KERNEL", "MEMCPY", "MEMSET"):
        columns = f"start, end, globalPid, correlationId FROM CUPTI_ACTIVITY_KIND_{kind}"
        for start, end, pid, correlation in found(path, f"SELECT {columns}"):
            if (call := calls.get((pid & PROCESS, correlation))) is None:
                continue
            of, at = call
            mine = np.where(is_shared, (threads & PROCESS) == (of & PROCESS), threads == of)
            around = np.flatnonzero((starts <= at) & (at <= ends) & mine)
            for key in {keys[one] for one in around}:
                inclusive[key] += end - start
                kernels[key] += kind == "KERNEL"
            if around.size:
                # The innermost is the one that was opened last, of several the one that was closed first.
                last = max(around, key=lambda one: (starts[one], -ends[one], one))
                exclusive[keys[last]] += end - start
    return {key: Row(count[key], host[key], inclusive[key], exclusive[key], kernels[key]) for key in count}


def by_tag(rows: Iterable[tuple[str | None, Iterable[int]]]) -> dict[str | None, list[int]]:
    """Sums by name, with that of the domain in front, as nsys shows it."""
    sums: dict[str | None, list[int]] = {}
    for tag, numbers in rows:
        before = sums.get(common(tag), [0] * 9)
        sums[common(tag)] = [one + other for one, other in zip(before, numbers, strict=False)]
    return sums


def tagged(rows: Rows, *fields: str) -> dict[str | None, list[int]]:
    return by_tag(
        (f"{domain}:{name}" if domain else name, [getattr(row, field) for field in fields])
        for (name, domain), row in rows.items()
    )


def kernels_by_range(rows: list[dict[str, str]]) -> dict[str | None, int]:
    """How many kernels each name has in `nvtxkernsum`; those of no range stand under None there."""
    found = by_tag((row["NVTX Range"], [int(row["Kern Inst"])]) for row in rows if row["NVTX Range"] != "None")
    return {tag: count for tag, (count,) in found.items()}


def operations_by_range(rows: list[dict[str, str]]) -> dict[str, int]:
    """How many operations each name has in `nvtxgpuproj`, each once where ranges of a name lie within each other."""
    names = {row["RangeId"]: row["Name"] for row in rows}
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        around = row["RangeStack"].split(":")[1:-1]
        if all(names.get(one) != row["Name"] for one in around):
            counts[row["Name"]] += int(row["NumGPUOps"])
    return dict(counts)


@with_ranges
def test_captures_from_the_field_are_what_a_plain_look_finds(path: Path) -> None:
    if not found(path, "SELECT 1 FROM NVTX_EVENTS"):
        assert fastrnns_rs.read(path).ranges == []
        return
    assert ours(path) == plain(path) != {}


@nsys_is_here
@with_ranges
def test_instances_and_host_time_and_kernels_are_those_of_nsys(path: Path, tmp_path: Path) -> None:
    """In a copy whose texts do not number calls: nsys counts a kernel once in ranges of one name alone."""
    copy = changed(
        path,
        tmp_path / path.name,
        [
            "UPDATE NVTX_EVENTS SET text = common(text) WHERE text IS NOT NULL",
            f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = {BACKTRACE}",
        ],
        common=common,
    )
    reports = stats(copy, "nvtxsum", "nvtxppsum", "nvtxsesum", "nvtxkernsum")
    mine = ours(path)
    expected = tagged(mine, "count", "host_total_ns")
    for names in (("nvtxsum",), ("nvtxppsum", "nvtxsesum")):
        rows = [row for name in names for row in reports[name]]
        theirs = ((row["Range"], (int(row["Instances"]), int(row["Total Time (ns)"]))) for row in rows)
        assert by_tag(theirs) == expected
    launched = {tag: count for tag, (count,) in tagged(mine, "kernel_count").items() if count}
    assert launched == kernels_by_range(reports["nvtxkernsum"])


@nsys_is_here
@pytest.mark.parametrize("name", ["fuser_matmul_h200_2024.6_a", "saxpy_mpi_a100_2022.2"])
def test_projected_operations_are_those_of_nsys(name: str, tmp_path: Path) -> None:
    """`nvtxgpuproj` takes a minute for other captures. It counts copies, of which `kernel_count` says nothing."""
    path = capture(f"nsys/{name}.sqlite")
    tables = (f"CUPTI_ACTIVITY_KIND_{one}" for one in ("MEMCPY", "MEMSET"))
    calls = f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = {BACKTRACE}"
    copy = changed(path, tmp_path / path.name, [calls, *(f"DROP TABLE {table}" for table in tables)])
    theirs = operations_by_range(stats(copy, "nvtxgpuproj")["nvtxgpuproj"])
    mine = {tag: count for tag, (count,) in tagged(ours(path), "kernel_count").items() if count}
    assert mine == theirs != {}


ONE, OTHER = thread(42, 5), thread(42, 6)
ELSEWHERE = thread(43, 5)


def program(path: Path) -> Export:
    """Two threads of one process and one of another, which count their calls from 1 both."""
    export = Export(path)
    export.domain("Lib", 1, ONE)
    export.domain("Elsewhere", 1, ELSEWHERE)
    export.text(10, "registered")
    export.range("outer", 0, 100, ONE)
    export.range("inner", 10, 20, ONE)
    export.range("inner", 30, 40, ONE)
    export.range(None, 50, 60, ONE, text_id=10, domain=1)
    export.range("outer", 0, 100, ELSEWHERE)
    export.range("inner", 5, 9, OTHER)
    for of, at, correlation, took in [
        (ONE, 10, 1, 100),
        (ONE, 12, 2, 10),
        (ONE, 31, 3, 1),
        (ONE, 55, 4, 1000),
        (OTHER, 32, 5, 7),
        (OTHER, 6, 6, 70),
        (ONE, 150, 7, 5),
        (ELSEWHERE, 12, 1, 3),
        (ELSEWHERE, 90, 2, 30),
    ]:
        export.call(at, at + 3, of, correlation)
        export.kernel(200 + at, 200 + at + took, of, correlation)
    return export


PROGRAM: Rows = {
    ("outer", None): Row(2, 200, 100 + 10 + 1 + 1000 + 3 + 30, 3 + 30, 6),
    ("inner", None): Row(3, 24, 100 + 10 + 1 + 70, 100 + 10 + 1 + 70, 4),
    ("registered", "Lib"): Row(1, 10, 1000, 1000, 1),
}


def test_threads_domains_and_processes_are_told_apart(tmp_path: Path) -> None:
    path = program(tmp_path / "x.sqlite").written()
    assert ours(path) == plain(path) == PROGRAM


@nsys_is_here
def test_where_nsys_agrees(tmp_path: Path) -> None:
    path = program(tmp_path / "x.sqlite").written()
    reports = stats(path, "nvtxsum", "nvtxkernsum", "nvtxgpuproj")
    theirs = ((row["Range"], (int(row["Instances"]), int(row["Total Time (ns)"]))) for row in reports["nvtxsum"])
    assert by_tag(theirs) == tagged(PROGRAM, "count", "host_total_ns")
    kernels = {tag: count for tag, (count,) in tagged(PROGRAM, "kernel_count").items()}
    assert kernels_by_range(reports["nvtxkernsum"]) == operations_by_range(reports["nvtxgpuproj"]) == kernels
    in_ranges: dict[str, int] = defaultdict(int)
    for row in reports["nvtxkernsum"]:
        in_ranges[row["NVTX Range"]] += int(row["Total Time (ns)"])
    in_ranges.pop("None")
    assert in_ranges == {tag: time for tag, (time,) in tagged(PROGRAM, "gpu_inclusive_ns").items()}


def test_what_a_process_names_holds_on_all_of_its_threads(tmp_path: Path) -> None:
    """Backward kernels are launched by autograd's thread, and belong to the phase that the main one has begun."""
    export = Export(tmp_path / "x.sqlite")
    export.range("jit/forward/0", 0, 10, ONE, kind=STARTED)
    export.range("jit/backward/0", 20, 60, ONE, kind=STARTED)
    export.range("jit/backward/1", 70, 90, ONE, kind=STARTED, ends_on=OTHER)
    export.range("Backward0, seq = 7, op_id = 3", 30, 50, OTHER)
    for correlation, (of, at) in enumerate([(ONE, 5), (OTHER, 40), (OTHER, 55), (OTHER, 80), (ELSEWHERE, 40)], 1):
        export.call(at, at + 1, of, correlation)
        export.kernel(100 * correlation, 100 * correlation + 10**correlation, of, correlation)
    export.call(41, 43, OTHER, 9, name=4)
    export.copy(900, 907, OTHER, 9)
    path = export.written()
    rows = {row.name: row for row in fastrnns_rs.read(path).ranges}
    assert {name: (row.runner, row.phase) for name, row in rows.items()} == {
        "jit/forward": ("jit", "forward"),
        "jit/backward": ("jit", "backward"),
        "Backward0": ("jit", "backward"),
    }
    assert Row.of(rows["jit/forward"]) == Row(1, 10, 10, 10, 1)
    assert Row.of(rows["jit/backward"]) == Row(2, 60, 11100 + 7, 11000, 3)
    assert Row.of(rows["Backward0"]) == Row(1, 20, 107, 107, 1)


@nsys_is_here
def test_where_nsys_does_not_agree(tmp_path: Path) -> None:
    export = Export(tmp_path / "x.sqlite")
    export.range("shared", 0, 50, ONE, kind=STARTED)
    export.range("handed over", 0, 50, ONE, kind=STARTED, ends_on=OTHER)
    export.range("open", 60, None, ONE)
    export.range("cut", 8, 12, ONE)
    export.range("last", 70, 90, OTHER)
    for correlation, (of, at) in enumerate([(ONE, 10), (OTHER, 20), (ONE, 80), (ONE, 95)], 1):
        export.call(at, at + 3, of, correlation)
        export.kernel(100 * correlation, 100 * correlation + 1, of, correlation)
    path = export.written()
    kernels = {name: row.kernel_count for (name, _), row in ours(path).items()}
    assert ours(path) == plain(path)
    assert kernels == {"shared": 2, "handed over": 2, "open": 2, "cut": 1, "last": 0}
    reports = stats(path, "nvtxsum", "nvtxkernsum", "nvtxgpuproj")
    # Its range ends with its thread's calls, another's not at all, one with the table, and one before its call's end.
    theirs = {"shared": 1, "open": 1}
    assert kernels_by_range(reports["nvtxkernsum"]) == operations_by_range(reports["nvtxgpuproj"]) == theirs
    # It takes a range for closed that was not.
    times = {row["Range"]: int(row["Total Time (ns)"]) for row in reports["nvtxsum"]}
    assert times == {"shared": 50, "handed over": 50, "open": 30, "cut": 4, "last": 20}
    assert {name: row.host_total_ns for (name, _), row in ours(path).items()} == {**times, "open": 0}


TIMES = st.integers(0, 60)
RANGES = st.tuples(
    st.sampled_from(["a", "b", "aten::to, op_id = 3", "aten::to, seq = 1, op_id = 4", None]),
    TIMES,
    st.none() | st.integers(-2, 30),
    st.sampled_from([ONE, OTHER, ELSEWHERE]),
    st.sampled_from([PUSHED, STARTED]),
    st.integers(0, 2),
)
CALLS = st.tuples(TIMES, st.sampled_from([ONE, OTHER, ELSEWHERE]), st.integers(0, 100), st.booleans())


@examples(max_examples=60)
@given(st.lists(RANGES, max_size=14), st.lists(CALLS, max_size=14))
def test_any_export_is_what_a_plain_look_finds(
    tmp_path_factory: pytest.TempPathFactory, ranges: list[Any], calls: list[Any]
) -> None:
    """Also where ranges of a thread cross, which no program does."""
    export = Export(tmp_path_factory.getbasetemp() / "any.sqlite")
    export.domain("Lib", 1, ONE)
    for name, start, length, of, kind, domain in ranges:
        export.range(name, start, None if length is None else start + length, of, kind=kind, domain=domain)
    seen: Counter[int] = Counter()
    for at, of, took, is_kernel in calls:
        seen[of & PROCESS] += 1
        export.call(at, at + 2, of, seen[of & PROCESS])
        (export.kernel if is_kernel else export.copy)(100, 100 + took, of, seen[of & PROCESS])
    path = export.written()
    assert ours(path) == plain(path)
