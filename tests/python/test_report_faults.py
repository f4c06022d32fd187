"""Faults put into captures of every format: cut at every hundredth of their length, bytes changed by dice.

Whatever is left ends in an error of one line, in a warning, or in figures that are right: those of the whole file where
nothing that matters was hit, or else those that another reader finds in the damaged one.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import signal
import sqlite3
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import nvprof_files
import pytest
from kineto_reference import CALLS, KERNELS, MEMORY, nanoseconds
from kineto_traces import by_dice, document, kernel, write
from nsys_exports import Export, found, thread
from parts import few

import fastrnns_rs
from fastrnns_rs import FastrnnsError, Summary

#: Count and sum of kernels by name, of memory operations, and of calls by name.
Figures = tuple[dict[str, tuple[int, int]], tuple[int, int], dict[str, tuple[int, int]]]

#: What a summary of a damaged file says of it.
TOLD = {"events_skipped", "capture_incomplete", "names_damaged", "file_cut_short", "rows_lost", "unfinished_write"}
TOLD |= {"trailing_text", "names_missing"}
#: Far longer than any of these files takes, on a busy machine too.
PATIENCE_S = 20.0
FLIPS = 150
#: As many bytes are changed at most, other than in one stretch.
FLIPPED = 8
#: No line of a table takes fewer bytes.
SHORTEST_LINE = 50
#: No event of these files takes fewer bytes.
SHORTEST = 100


def figures(summary: Summary) -> Figures:
    kernels: dict[str, tuple[int, int]] = {}
    for row in summary.kernels:
        count, total = kernels.get(row.name, (0, 0))
        kernels[row.name] = (count + row.count, total + row.total_ns)
    memory = (
        sum(row.count for row in summary.memory_operations),
        sum(row.total_ns for row in summary.memory_operations),
    )
    return kernels, memory, {row.name: (row.count, row.total_ns) for row in summary.api_calls}


def sums(found: Figures) -> list[tuple[int, int]]:
    """The same, whatever things are called."""
    kernels, memory, calls = found
    both = [
        (sum(count for count, _ in one.values()), sum(took for _, took in one.values())) for one in (kernels, calls)
    ]
    return [*both, memory]


def kineto(path: Path) -> Path:
    return write(path, document(by_dice(5, 300), traceName="x"))


def kineto_packed(path: Path) -> Path:
    return write(path.with_suffix(".gz"), document(by_dice(5, 1500)))


def by_json(path: Path) -> Figures:
    """What the standard library reads where it takes control characters in texts, and bytes that are no text."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode(errors="replace")
    kernels: dict[str, tuple[int, int]] = {}
    calls: dict[str, tuple[int, int]] = {}
    copies = (0, 0)
    for event in json.loads(text, strict=False, parse_float=Decimal)["traceEvents"]:
        category = event.get("cat")
        if event.get("ph") != "X" or category not in KERNELS | MEMORY | CALLS:
            continue
        took = nanoseconds(event["ts"] + event["dur"]) - nanoseconds(event["ts"])
        assert took >= 0
        if category in MEMORY:
            copies = (copies[0] + 1, copies[1] + took)
            continue
        found = kernels if category in KERNELS else calls
        count, total = found.get(event["name"], (0, 0))
        found[event["name"]] = (count + 1, total + took)
    return kernels, copies, calls


def nsys(path: Path) -> Path:
    export, dice, of = Export(path), random.Random(3), thread(77, 5)
    for number in range(6):
        export.text(9000 + number, f"void kernel_{number}<float>(float *)")
    for number in range(400):
        start, took = number * 1000 + dice.randrange(300), dice.randrange(1, 900)
        export.call(start - 50, start, of, number)
        export.kernel(start, start + took, of, number, name=9000 + dice.randrange(6), device=dice.randrange(2))
        export.copy(start, start + took, of, number)
    return export.written()


def by_sqlite(path: Path) -> Figures:
    """What SQLite reads."""

    def rows(table: str, name: str) -> dict[str, tuple[int, int]]:
        joined = f"CUPTI_ACTIVITY_KIND_{table} JOIN StringIds ON id = {name}"
        each = found(path, f"SELECT value, count(*), sum(end - start) FROM {joined} GROUP BY value")
        return {name: (count, total) for name, count, total in each}

    [(copies, took)] = found(path, "SELECT count(*), total(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY") or [(0, 0)]
    calls = {name.removesuffix("_v7000"): row for name, row in rows("RUNTIME", "nameId").items()}
    return rows("KERNEL", "demangledName"), (copies, int(took)), calls


#: What stands for no name in nvprof's profiles, and what we call that.
NAMELESS = {"-- null --": "[no name]"}
#: Numbers of functions, as nvprof's profiles have them.
FUNCTIONS = {41: "cudaMemcpyAsync", 211: "cudaLaunchKernel"}


def nvprof(path: Path) -> Path:
    profile, dice = nvprof_files.Profile(path, 22), random.Random(6)
    place = {"deviceId": 0, "contextId": 1, "streamId": 7}
    for number in range(1, 301):
        start, took = nvprof_files.EPOCH + number * 1000, dice.randrange(1, 900)
        profile.call(dice.choice([*FUNCTIONS]), start - 50, 40, number)
        if number % 3:
            profile.kernel(f"kernel_{dice.randrange(6)}", start, took, number)
        else:
            times = {"start": start, "end": start + took}
            profile.add("MEMCPY", copyKind=1 + number % 2, bytes=4096, **times, **place, correlationId=number)
    return profile.save()


def by_activities(path: Path) -> Figures:
    """What SQLite reads, of rows that nvprof takes for valid."""

    def rows(table: str, name: str) -> dict[Any, tuple[int, int]]:
        of = f"CUPTI_ACTIVITY_KIND_{table} AS had GROUP BY 1"
        each = found(path, f"SELECT {name}, count(*), sum(end - start) FROM {of}")
        return {name: (count, total) for name, count, total in each}

    kernels = rows("CONCURRENT_KERNEL", "(SELECT value FROM StringTable WHERE _id_ = had.name)")
    kernels = {NAMELESS.get(name, name): row for name, row in kernels.items()}
    calls = {FUNCTIONS.get(cbid, str(cbid)): row for cbid, row in rows("RUNTIME", "cbid").items()}
    return kernels, rows("MEMCPY", "1").get(1, (0, 0)), calls


def nvprof_csv(path: Path) -> Path:
    """A trace as it is printed with `--print-gpu-trace -u ns`."""
    dice, lines = random.Random(4), ["==1== Profiling result:"]
    lines += ['"Start","Duration","Size","Throughput","Device","Context","Stream","Name"', "ns,ns,B,B/s,,,,"]
    for number in range(600):
        copied = number % 4 == 0
        name = "[CUDA memcpy HtoD]" if copied else f"void kernel_{dice.randrange(6)}<float, int=2>(float*, int)"
        size = f"{dice.randrange(1, 9999)},{dice.randrange(1, 9999)}" if copied else ","
        lines.append(f'{number * 1000},{dice.randrange(1, 900)},{size},"Imaginary (0)","1","7","{name}"')
    path.write_text("\n".join(lines) + "\n")
    return path


#: Names may hold quotes, which nvprof writes as they are: all between the first and the last is one.
ROW = re.compile(r'(\d+),(\d+),\d*,\d*,"[^"]*","[^"]*","[^"]*","(.*)"', re.DOTALL)


def by_lines(path: Path) -> Figures:
    """What a regular expression reads, line by line."""
    kernels: dict[str, tuple[int, int]] = {}
    copied = (0, 0)
    for line in path.read_bytes().decode(errors="replace").removesuffix("\n").split("\n")[3:]:
        row = ROW.fullmatch(line)
        if row is None:
            raise ValueError(line)
        took, name = int(row[2]), row[3]
        count, total = copied if name.startswith("[CUDA mem") else kernels.get(name, (0, 0))
        if name.startswith("[CUDA mem"):
            copied = (count + 1, total + took)
        else:
            kernels[name] = (count + 1, total + took)
    return kernels, copied, {}


@dataclass(frozen=True)
class Format:
    """A format of captures: a generated one, and who else reads it."""

    name: str
    make: Callable[[Path], Path]
    reference: Callable[[Path], Figures]
    #: What the other reader raises where it reads nothing.
    refuses: tuple[type[Exception], ...]
    #: Whether events are passed over without a look at all of them: the end of one may then stand for that of another
    #: when what was between them is gone, and both are one.
    skims: bool = False
    #: Whether functions have numbers, of which the other reader knows the names of those that were written.
    numbered: bool = False
    #: Whether it is lines of text, and no more: without calls, without an end, without quotes that are marked as such.
    bare: bool = False


FAULTS_OF_JSON = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, AssertionError)
FAULTS_OF_SQL = (sqlite3.Error, UnicodeError, TypeError, OverflowError)

#: A format is a row here.
FORMATS = [
    Format("kineto", kineto, by_json, FAULTS_OF_JSON, skims=True),
    Format("kineto-gz", kineto_packed, by_json, (*FAULTS_OF_JSON, OSError, EOFError, zlib.error)),
    Format("nsys-sqlite", nsys, by_sqlite, FAULTS_OF_SQL),
    Format("nvprof-sqlite", nvprof, by_activities, FAULTS_OF_SQL, numbered=True),
    Format("nvprof-csv", nvprof_csv, by_lines, (ValueError,), bare=True),
]
Sound = tuple[Format, Path, Figures, bytes]


@pytest.fixture(autouse=True)
def impatience() -> Iterator[None]:
    """A reader that hangs is interrupted, where it still asks."""

    def give_up(*_: Any) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def outcome(path: Path) -> tuple[Summary | None, float]:
    """The summary, none where the file is refused in one line; and how long that took."""
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    begin = time.monotonic()
    try:
        # A panic of Rust is no FastrnnsError, and fails the test.
        summary = fastrnns_rs.read(path)
        summary.render()
    except FastrnnsError as error:
        summary, said = None, error.message
    else:
        said = "a summary"
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert "\n" not in said
    return summary, time.monotonic() - begin


def judge_lines(form: Format, path: Path, found: Figures, whole: Figures, stretch: int) -> str:
    """The same for text without marks: where two rows became one, either may be meant; no more is lost than was hit."""
    try:
        expected = form.reference(path)
    except form.refuses:
        expected = whole
    most = FLIPPED + stretch // SHORTEST_LINE
    rows = [sum(count for count, _ in sums(one)) for one in (found, expected)]
    assert abs(rows[0] - rows[1]) <= most, f"{form.name}: more is lost than was hit"
    return "other figures" if sums(found) == sums(expected) else "other rows"


def judge(form: Format, path: Path, whole: Figures, stretch: int = 0) -> str:
    """What came of a damaged file, of which so many bytes are gone in one place.

    Fails where figures are wrong and nothing is said.
    """
    summary, took = outcome(path)
    assert took < PATIENCE_S
    if summary is None:
        return "refused"
    [capture] = summary.captures
    assert capture.events_skipped == sum(one.count for one in capture.skipped)
    if TOLD & {warning.code for warning in summary.warnings}:
        return "told"
    assert capture.events_skipped == 0
    found = figures(summary)
    if found == whole or form.bare:
        return "unharmed" if found == whole else judge_lines(form, path, found, whole, stretch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = form.reference(path)
        except form.refuses:
            # Where ours takes more than the other does, as a name with a quote in it, nothing may be lost.
            if form.skims:
                # One byte may have made a category of nobody's, and another a fault in what is passed over.
                most = 1 + stretch // SHORTEST if stretch else FLIPPED
                pairs = [*zip(sums(found), sums(whole), strict=True)]
                assert all(one[0] <= all_of[0] and (one[1] <= all_of[1] or not stretch) for one, all_of in pairs)
                assert sum(all_of[0] - one[0] for one, all_of in pairs) <= most, (
                    f"{form.name}: more is lost than was hit"
                )
                return "lost"
            assert sums(found) == sums(whole), f"{form.name}: wrong, and nothing is said"
            return "other names"
    assert sums(found) == sums(expected)
    # Numbers of functions that damage made are names to us.
    assert found[0] == expected[0]
    assert found[2] == expected[2] or form.numbered
    return "other figures"


@pytest.fixture(params=FORMATS, ids=lambda form: form.name)
def sound(request: pytest.FixtureRequest, tmp_path: Path) -> Sound:
    """A format, a file of it, the figures and the bytes of the file."""
    form: Format = request.param
    path = form.make(tmp_path / "x")
    summary, _ = outcome(path)
    assert summary is not None
    assert not TOLD & {warning.code for warning in summary.warnings}
    return form, path, figures(summary), path.read_bytes()


def test_the_whole_file_is_read_as_another_reader_reads_it(sound: Sound) -> None:
    form, path, whole, _ = sound
    assert whole == form.reference(path)
    kernels, (copies, _), calls = whole
    assert len(kernels) > 2
    assert copies > 50
    assert sum(count for count, _ in calls.values()) > 50 or form.bare


def test_a_file_cut_anywhere_is_told_of(sound: Sound) -> None:
    form, path, whole, content = sound
    found = []
    for hundredth in range(100):
        path.write_bytes(content[: len(content) * hundredth // 100])
        found.append(judge(form, path, whole))
        if form.bare and found[-1] == "other figures":
            # Cut between rows, and the figures are those of the rows that are left.
            assert path.read_bytes().endswith((b'"', b'"\n'))
            found.pop()
    # A file that is not all there never passes for one that is.
    assert set(found) <= {"refused", "told"}, found
    assert found[0] == "refused"


@pytest.mark.parametrize("count", few([FLIPPED], [1, FLIPPED], "reading"))
def test_bytes_changed_anywhere_do_no_silent_harm(count: int, sound: Sound) -> None:
    form, path, whole, content = sound
    dice = random.Random(f"{form.name} {count}")
    for _ in range(FLIPS):
        damaged = bytearray(content)
        for _ in range(count):
            damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        judge(form, path, whole)


@pytest.mark.parametrize("filling", few([b"\0", b'"'], [b"\0", b"\xff", b"\n", b'"'], "reading"))
def test_a_stretch_written_over_does_no_silent_harm(filling: bytes, sound: Sound) -> None:
    """As a disk or a transfer leaves it: blocks of zeros."""
    form, path, whole, content = sound
    dice = random.Random(f"{form.name} {filling!r}")
    for _ in range(30):
        start, length = dice.randrange(len(content)), dice.choice([4, 512, 4096])
        path.write_bytes((content[:start] + filling * length + content[start + length :])[: len(content)])
        judge(form, path, whole, length)


@pytest.mark.parametrize("longest", [1_000, 8 * 24 * 3600 * 10**9, 4 * 10**18])
def test_a_kernel_of_more_than_a_week_is_skipped(longest: int, tmp_path: Path) -> None:
    export = Export(tmp_path / "export.sqlite")
    for number, duration in ((1, 1_000), (2, longest)):
        export.call(10_000 * number, 10_000 * number + 10, thread(100, 1), number)
        export.kernel(10_000 * number + 50, 10_000 * number + 50 + duration, thread(100, 1), number)
    trace = write(tmp_path / "trace.json", document(one_and(longest)))
    for path in (export.written(), trace):
        read = fastrnns_rs.read(path)
        is_sound = longest == 1_000
        assert sum(one.total_ns for one in read.kernels) == (2_000 if is_sound else 1_000)
        skipped = [one.reason for one in read.captures[0].skipped]
        assert skipped == ([] if is_sound else ["a duration of more than a week"])
        assert ("events_skipped" in {one.code for one in read.warnings}) is not is_sound


def one_and(longest: int) -> list[dict[str, Any]]:
    return [kernel("k", 0, 1.0), kernel("k", 10, longest / 1000)]
