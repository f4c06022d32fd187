"""Whether a capture is taken for one: files as profilers write them, and as they should not be.."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import PLANTED
from fake_tools import nsys_database, nvprof_database
from real_nsys import NSYS, captured, check_captured, nsys_is_here, tried

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.profiling import checks, redaction
from fastrnns_rs.profiling.record import Capture, CheckEntry

EXPECTED = checks.expected_ranges({"py": ["forward", "backward"], "jit": ["forward"]}, range(2))
NAMES = [*EXPECTED]
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


def by_id(found: list[CheckEntry]) -> dict[str, CheckEntry]:
    assert len({one.id for one in found}) == len(found)
    return {one.id: one for one in found}


def nsys(path: Path, expected: Counter[str] = EXPECTED, **more: Any) -> dict[str, CheckEntry]:
    return by_id(checks.nsys_sqlite(path, expected, **{"cuda": False, **more}))


def loss(path: Path) -> CheckEntry:
    return nsys(path, Counter())["event_loss"]


def test_the_expected_ranges_are_each_phase_of_each_iteration() -> None:
    names = {"py/forward/0", "py/forward/1", "py/backward/0", "py/backward/1", "jit/forward/0", "jit/forward/1"}
    assert Counter(names) == EXPECTED
    assert checks.expected_marks(["forward"], 3) == {"## forward ##": 3}


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("runner", ["py", *ODD])
def test_ranges_are_found_whatever_the_runner_is_called(runner: str, tmp_path: Path, *, by_name: bool) -> None:
    expected = checks.expected_ranges({runner: ["forward", "backward"]}, range(3))
    path = nsys_database(tmp_path / "x.sqlite", expected, by_id=not by_name)
    found = nsys(path, expected)
    assert list(found) == ["opens", "ranges", "event_loss"]
    assert all(one.ok for one in found.values()), found
    assert (found["ranges"].expected, found["ranges"].found) == ("6 ranges", "6 ranges")


def test_ranges_of_others_do_not_count(tmp_path: Path) -> None:
    """Neither those of libraries nor those of another kind, such as what a push and a pop make."""
    path = nsys_database(tmp_path / "x.sqlite", [*NAMES, "forward", "py/forward", "py/forward/x", "py/sideways/0", ""])
    assert nsys(path)["ranges"].ok
    assert nsys(nsys_database(path, NAMES, kind=59))["ranges"].found.startswith("0 ranges, 6 missing: ")


def test_what_is_missing_or_too_many_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    found = nsys(nsys_database(path, NAMES[1:]))["ranges"]
    assert (found.ok, found.found) == (False, f"5 ranges, 1 missing: {NAMES[0]}")
    found = nsys(nsys_database(path, [*NAMES, NAMES[2], "aten/forward/0"]))["ranges"]
    assert (found.ok, found.found) == (False, f"8 ranges, 2 too many: {NAMES[2]}, aten/forward/0")
    found = nsys(nsys_database(path))["ranges"]
    assert (found.ok, found.found) == (False, f"0 ranges, 6 missing: {', '.join(NAMES[:3])}, …")
    found = nsys(nsys_database(path, NAMES[2:], unended=NAMES[:2]))["ranges"]
    assert (found.ok, found.found) == (False, f"4 ranges, 2 missing: {', '.join(NAMES[:2])}")


def test_a_runner_that_failed_may_have_any_ranges(tmp_path: Path) -> None:
    path = nsys_database(tmp_path / "x.sqlite", [*NAMES, "raises/forward/0"])
    assert not nsys(path)["ranges"].ok
    assert nsys(path, failed={"raises"})["ranges"].ok
    assert not nsys(path, failed={"raise", "raises/forward"})["ranges"].ok
    path = nvprof_database(tmp_path / "x.nvvp", [*NAMES, "raises/forward/0"], kernels=1)
    assert by_id(checks.nvprof_profile(path, EXPECTED, failed={"raises"}))["ranges"].ok


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


def test_a_file_that_is_no_database_is_one_failed_check(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    for content in (b"", b"no database at all" * 100, b"SQLite format 3\0", b"\0" * 8192):
        path.write_bytes(content)
        for found in (checks.nsys_sqlite(path, EXPECTED, cuda=True), checks.nvprof_profile(path, EXPECTED)):
            # An empty file is a database without tables.
            assert not all(one.ok for one in found)
            assert content == b"" or (len(found), found[0].id) == (1, "opens")
    assert not nsys(tmp_path)["opens"].ok
    assert not nsys(tmp_path / "missing?mode=rwc#&%")["opens"].ok
    assert not by_id(checks.nvprof_profile(tmp_path / "missing", EXPECTED))["opens"].ok
    assert sorted(tmp_path.iterdir()) == [path], "looking makes no file"


def test_a_file_cut_anywhere_is_no_capture(tmp_path: Path) -> None:
    whole = nsys_database(tmp_path / "whole.sqlite", NAMES, by_id=True, kernels=2000, diagnostics=[]).read_bytes()
    path = tmp_path / "x.sqlite"
    for length in [*range(1, len(whole), 1111), *range(4096, len(whole), 4096), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert not all(one.ok for one in checks.nsys_sqlite(path, EXPECTED, cuda=True)), length


def test_a_damaged_file_is_a_failed_check_and_never_an_exception(tmp_path: Path) -> None:
    dice = random.Random(1)
    files = {
        checks.nsys_sqlite: nsys_database(tmp_path / "nsys", NAMES, by_id=True, kernels=9, diagnostics=["x"]),
        checks.nvprof_profile: nvprof_database(tmp_path / "nvprof", NAMES, kernels=9),
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
            found = check(path, EXPECTED, **({"cuda": True} if check is checks.nsys_sqlite else {}))
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
        found = checks.nvprof_profile(nvprof_database(path, NAMES, kernels=1, more=more), EXPECTED)
        assert not all(one.ok for one in found)


#: As nsys 2022.4 words it.
LOSSES = [
    "Not all CUDA events might have been collected.",
    "Not all NVTX events might have been collected.",
    "Some events (\t12) were lost. Certain charts (including CPU utilization) may be wrong.",
    "Sampling events were lost in the interval 1 - 9 (8) ns. Try reducing the sampling rate.",
    "CUPTI dropped 7 records. Some CUPTI events might be missing.",
    "Number of incomplete CUPTI events dropped: 3. Incomplete events appear when GPU timestamps are missing.",
    "12 NVTX annotations were discarded because they contained at least one invalid string handle.",
    "4 GPU events were discarded as their timestamps could not be converted.",
    "EventRequestor: Lost events=12",
]
NO_LOSSES = [
    "NVTX profiling started",
    "Number of CUDA events collected: 3,442.",
    "Number of lost events: 0",
    "Lost events = 0",
    "No events were lost",
    "Process 12 was launched by the profiler",
]
#: Strings that are no messages.
STRINGS = [
    "void lost::events<float>(dropped const*, events)",
    "void at::native::vectorized_elementwise_kernel<4, events lost>",
    "events_dropped(float *, int)",
    "_NOTE=not all events were lost",
    "HOME=/root\0NOTE=12 events were lost\0",
]


@pytest.mark.parametrize("text", LOSSES)
def test_lost_events_are_seen(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    for found in (
        loss(nsys_database(path, diagnostics=["fine", text, "fine too"])),
        loss(nsys_database(path, strings=["fine too", text])),
    ):
        assert (found.ok, found.found) == (False, " ".join(text.split()))


def test_what_sounds_like_a_loss_and_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    assert loss(nsys_database(path, diagnostics=NO_LOSSES, strings=LOSSES)).ok, "the table says all that is to be said"
    assert loss(nsys_database(path, strings=[*NO_LOSSES, *STRINGS])).ok
    printed = "CREATE TABLE {0} ({1} INTEGER); INSERT INTO {0} SELECT id FROM StringIds"
    for more in (printed.format("ProcessStreams", "contentId"), printed.format("ThreadNames", "nameId")):
        assert loss(nsys_database(path, strings=LOSSES, more=more)).ok, "said by the process, not by nsys"
    ranges = checks.expected_ranges({"all records were lost": ["forward"]}, range(1))
    assert all(one.ok for one in nsys(nsys_database(path, ranges, by_id=True), ranges).values())


def kineto(path: Path, text: str | bytes | Any, expected: Counter[str] | None = None) -> dict[str, CheckEntry]:
    if not isinstance(text, str | bytes):
        text = json.dumps(text)
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return by_id(checks.kineto(path, Counter() if expected is None else expected))


def trace(*names: str) -> dict[str, Any]:
    return {"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": name} for name in names]}


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_a_trace_holds_the_marks(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    expected = checks.expected_marks(["forward", "backward"], 2)
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
        assert not all(one.ok for one in checks.kineto(path, Counter())), length
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(damaged))] ^= dice.randrange(1, 256)
        path.write_bytes(damaged)
        assert checks.kineto(path, Counter())
    assert not checks.kineto(tmp_path / "missing.json", Counter())[0].ok
    assert not checks.kineto(tmp_path, Counter())[0].ok


def test_a_profile_of_nvprof(tmp_path: Path) -> None:
    path = tmp_path / "x.nvvp"
    found = by_id(checks.nvprof_profile(nvprof_database(path, NAMES, kernels=2), EXPECTED))
    assert [(one.id, one.ok) for one in found.values()] == [("opens", True), ("kernels", True), ("ranges", True)]
    found = by_id(checks.nvprof_profile(nvprof_database(path, NAMES[1:], unended=NAMES[:1]), EXPECTED))
    assert (found["kernels"].ok, found["kernels"].found) == (False, "0 kernels")
    assert found["ranges"].found == f"5 ranges, 1 missing: {NAMES[0]}"
    path.write_text("<?xml version='1.0'?><session/>")
    assert not by_id(checks.nvprof_profile(path, EXPECTED))["opens"].ok


@pytest.mark.parametrize(("content", "found"), [(None, "no file"), (b"", "an empty file"), (b"abc", "3 bytes")])
def test_a_file_is_written(content: bytes | None, found: str, tmp_path: Path) -> None:
    path = tmp_path / "a b.x"
    if content is not None:
        path.write_bytes(content)
    one = checks.written(path)
    assert (one.id, one.found, one.ok) == ("written:a b.x", found, content == b"abc")
    assert not checks.written(tmp_path).ok


def corpus(pattern: str) -> list[Path]:
    folder = os.environ.get("FASTRNNS_CORPUS")
    found = sorted(Path(folder).glob(pattern)) if folder else []
    missing = pytest.mark.skip(reason=f"FASTRNNS_CORPUS names no folder with {pattern}")
    return found or [pytest.param(None, marks=missing)]  # type: ignore[list-item]


#: What every secret that is planted below holds, and nothing else on a machine.
MARK = b"zqv"
SECRETS = {
    "FASTRNNS_TEST_SECRET": "zqv1 hush",
    "FASTRNNS_TEST_QUOTES": 'it\'s "zqv2" \\ `back`\t',
    "FASTRNNS_TEST_LINES": "first\nzqv3\r\nthird=zqv4\n",
    "FASTRNNS_TEST_UNICODE": "schlüssel zqv5 日本 🔑",
    "FASTRNNS_TEST_BYTES": os.fsdecode(b"\xff\xfe zqv6 \x80"),
    "FASTRNNS_TEST_LONG": "zqv7" * 5000,
    "FASTRNNS_TEST_SHORT": "zqv8",
    "ZQV_NAME": "1",
}


def leaks(folder: Path) -> dict[str, list[bytes]]:
    """What is left of secrets in the files of a folder, as they are and as UTF-16."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            # Looking ahead: two may stand so close that one is in what is shown of the other.
            pattern = b"(?=(" + re.escape(MARK) + b".{0,20}|z\0q\0v))"
            found[path.name] = [*dict.fromkeys(re.findall(pattern, content, re.DOTALL))]
    return {name: texts for name, texts in found.items() if texts}


def texts(path: Path) -> set[bytes]:
    """Every text of a database."""
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        tables = [name.decode() for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        quoted = [table.replace('"', '""') for table in tables]
        cells = (cell for table in quoted for row in database.execute(f'SELECT * FROM "{table}"') for cell in row)
        return {cell for cell in cells if isinstance(cell, bytes)}


def kernels(path: Path) -> list[Any]:
    """Times and names of all kernels."""
    with closing(sqlite3.connect(path)) as database:
        query = """
            SELECT start, end, deviceId, streamId, value FROM CUPTI_ACTIVITY_KIND_KERNEL
            JOIN StringIds ON StringIds.id = demangledName ORDER BY start, correlationId
        """
        return database.execute(query).fetchall()


def test_redaction_takes_out_what_is_private_and_nothing_else(tmp_path: Path) -> None:
    path = nsys_database(
        tmp_path / "x.sqlite",
        NAMES,
        by_id=True,
        strings=["a kernel", "zqv of a stream", "zqv of a thread", "A=1\0B=zqv\0", "zqv of nobody", f"x {USER}zqv"],
        more="""
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, demangledName INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 1);
            CREATE TABLE ProcessStreams (filenameId INTEGER, contentId INTEGER);
            INSERT INTO ProcessStreams VALUES (2, 2);
            CREATE TABLE ThreadNames (nameId INTEGER);
            INSERT INTO ThreadNames VALUES (3), (1);
            CREATE TABLE PROFILER_OVERHEAD (nameId INTEGER);
            INSERT INTO PROFILER_OVERHEAD VALUES (4), (6), ('x'), (NULL);
            CREATE TABLE PROCESSES (name TEXT);
            INSERT INTO PROCESSES VALUES ('zqv');
            CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
            INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment', 'zqv'), ('Hostname', 'zqv'), ('Cores', '2');
            CREATE TABLE META_DATA_CAPTURE (id INTEGER, name TEXT, value TEXT);
            INSERT INTO META_DATA_CAPTURE VALUES (0, 'P:COMMAND', 'zqv'), (1, 'USER_NAME', 'zqv'), (2, 'MODE', 'Node');
            CREATE TABLE "odd "" one" ("od""d" TEXT, untyped, bytes BLOB);
            INSERT INTO "odd "" one" VALUES ('a SECRET=12345zqv b', 'SECRET=12345zqv', CAST('SECRET=12345zqv' AS BLOB));
            INSERT INTO "odd "" one" VALUES (CAST(x'ff80' AS TEXT), 5, x'0001ff');
        """,
    )
    redaction.redact(path, {"SECRET": "12345zqv", "A": "b", "_": ""})
    assert not leaks(tmp_path)
    assert nsys(path)["ranges"].ok
    kept = {b"a kernel", b"[redacted]", b"Cores", b"2", b"Hostname", b"MODE", b"Node", b"\xff\x80", b"\0\1\xff"}
    assert kept <= texts(path)
    before = path.read_bytes()
    redaction.redact(path, {})
    assert path.read_bytes()[100:] == before[100:], "once is enough"


USER = f"{Path('~').expanduser()}/"


@pytest.mark.parametrize("home", ["/", "", "/root/"])
def test_a_home_at_the_root_does_not_take_ranges_away(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", home)
    path = nsys_database(tmp_path / "x.sqlite", NAMES)
    redaction.redact(path, {"HOME": home})
    assert nsys(path)["ranges"].ok


def test_what_cannot_be_redacted_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(FastrnnsError, match="cannot be redacted: file is not a database"):
        redaction.redact(path, {})
    whole = nsys_database(path, NAMES, by_id=True, strings=["x" * 50_000])
    path.write_bytes(whole.read_bytes()[:30_000])
    with pytest.raises(FastrnnsError, match="cannot be redacted: "):
        redaction.redact(path, {})
    nsys_database(path, more="CREATE TABLE META_DATA_EXPORT (other)")
    with pytest.raises(FastrnnsError, match="cannot be redacted: no such column"):
        redaction.redact(path, {})


@pytest.mark.parametrize("name", ["x.json", "x.json.gz", "x.txt"])
def test_a_trace_is_redacted(name: str, tmp_path: Path) -> None:
    """The name of the machine, however short, and folders of the user. Marks and the rest stay."""
    path = tmp_path / name
    stacks = [{"cat": "python_function", "name": f"{USER}zqv/x.py(1): f"}, {"name": "a:b", "args": {"hostName": "zqv"}}]
    text = json.dumps({"host_name": 'z"qv', **trace("## forward ##", "SECRET=12345zqv")}).replace("[", "[ \n", 1)
    text = text.replace("]}", f', {json.dumps(stacks)[1:-1]}], "traceName": "{USER}x.json"}}')
    kineto(path, text)
    redaction.redact_text(path, {"SECRET": "12345zqv"})
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    assert b"qv" not in content.replace(b"zqv/x.py", b"")
    assert USER.encode() not in content
    assert checks.kineto(path, checks.expected_marks(["forward"], 1))[1].ok
    assert json.loads(content)["traceEvents"][2]["name"] == "~/zqv/x.py(1): f"
    if path.suffix == ".gz":
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(FastrnnsError, match="cannot be redacted"):
            redaction.redact_text(path, {})


@contextmanager
def another_process(folder: Path) -> Iterator[None]:
    """A process whose name and whose only variable are secrets."""
    program = folder / "zqvprogram"
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "60"], env={"OTHER": "zqv9"}) as process:
        try:
            yield
        finally:
            process.kill()


@nsys_is_here
def test_a_capture_of_nsys_holds_secrets_until_it_is_redacted(tmp_path: Path) -> None:
    """What is tested below means something."""
    environment = {**os.environ, **SECRETS}
    printing = ["/bin/sh", "-c", "echo zqv of stdout; echo zqv of stderr >&2; sleep 0.3"]
    with another_process(tmp_path):
        path = captured(printing, tmp_path / "capture", environment)
    found = leaks(path.parent)
    assert {"x.sqlite", "x.nsys-rep"} <= {*found}
    for part in (b"zqv1", b"zqv2", b"zqv3", b"zqv5", b"zqv6", b"zqv of stdout", b"zqv of stderr", b"zqvprogram"):
        assert any(part in text for text in found["x.sqlite"]), part
    redaction.redact(path, environment)
    assert "x.sqlite" not in leaks(path.parent)


@nsys_is_here
def test_a_redacted_capture_holds_no_secret_and_can_be_read(tmp_path: Path) -> None:
    """The secrets are in variables, in what runners print, in the machine's name, and in another process."""
    arguments = ["--rnns", "cudnn", "prints", "--runner-file", PLANTED, "--quick", "--no-baseline", "--nloops", "2"]
    arguments += ["--warmup", "0", "--sleep-between-seconds", "0", "--redact", "--no-report", "--output-dir"]
    command = [sys.executable, "-m", "fastrnns_rs", "profile", "--nsys", *map(str, arguments)]
    # Where that is not permitted the machine keeps its name.
    rename = (
        'unshare --uts hostname zqvhost && exec unshare --uts sh -c \'hostname zqvhost; exec "$@"\' sh "$@"; exec "$@"'
    )
    command = ["sh", "-c", rename, "sh", *command]

    environment = {**os.environ, **SECRETS}

    def attempt(place: Path) -> Path:
        asked = [*command, str(place / "out")]
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
        check_captured(done, place / "out")
        return place / "out"

    with another_process(tmp_path):
        out = tried(attempt, tmp_path / "captures")
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".log", ".sqlite"]
    assert not leaks(out)
    for path in out.iterdir():
        assert b"from Python" not in path.read_bytes(), "what the runner printed"
    path = next(out.glob("*.sqlite"))
    record = Capture.load(path.with_suffix(".json"))
    assert record.ok
    assert hashlib.sha256(path.read_bytes()).hexdigest() == record.artefacts[0].sha256
    phases = ["forward", "backward"]
    expected = checks.expected_ranges({"cudnn": phases, "prints": phases}, range(2))
    assert all(one.ok for one in nsys(path, expected).values())
    stats = subprocess.run([str(NSYS), "stats", str(path)], capture_output=True, text=True, check=False)
    assert stats.returncode == 0, stats.stderr
    assert "cudnn/backward/1" in stats.stdout


@pytest.mark.parametrize("path", corpus("nsys/*.sqlite"), ids=lambda path: path and path.name)
def test_public_exports_open_and_lost_nothing(path: Path) -> None:
    found = nsys(path, Counter(), cuda=True)
    assert found["opens"].ok
    assert found["ranges"].ok, "no range has a name of ours"
    assert found["event_loss"].found == "none"
    assert found["kernels"].ok is (path.name != "cpuonly_2023.4.sqlite")


@pytest.mark.parametrize("path", corpus("nvprof/*.prof"), ids=lambda path: path and path.name)
def test_public_profiles_open(path: Path) -> None:
    found = by_id(checks.nvprof_profile(path, Counter()))
    assert found["opens"].ok
    assert found["kernels"].ok


@pytest.mark.parametrize("path", corpus("kineto/hta_cpu_only.json.gz"), ids=lambda path: path and path.name)
def test_public_traces_open(path: Path) -> None:
    assert by_id(checks.kineto(path, Counter()))[f"opens:{path.name}"].ok


@pytest.mark.parametrize("path", corpus("nsys/*.sqlite"), ids=lambda path: path and path.name)
def test_public_exports_are_redacted_without_a_loss(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    redaction.redact(copy, {"PATH": os.environ["PATH"]})
    found = nsys(copy, Counter(), cuda=True)
    assert [one.found for one in found.values()] == [one.found for one in nsys(path, Counter(), cuda=True).values()]
    if found["kernels"].ok:
        assert kernels(copy) == kernels(path) != []
