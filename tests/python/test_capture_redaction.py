"""Redaction of what profilers write: what is private is out, and the rest is as it was."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from capture_files import NAMES, kineto, nsys, trace
from corpus import captures
from fake_tools import nsys_database
from nsys_exports import found
from real_nsys import NSYS, captured, nsys_is_here
from test_redaction import leaks

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.profile import capture_checks, redaction

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


def kernels(path: Path) -> list[Any]:
    query = """
        SELECT start, end, deviceId, streamId, value FROM CUPTI_ACTIVITY_KIND_KERNEL
        JOIN StringIds ON StringIds.id = demangledName ORDER BY start, correlationId
    """
    return found(path, query)


def texts(path: Path) -> set[bytes]:
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        tables = [name.decode() for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        quoted = [table.replace('"', '""') for table in tables]
        cells = (cell for table in quoted for row in database.execute(f'SELECT * FROM "{table}"') for cell in row)
        return {cell for cell in cells if isinstance(cell, bytes)}


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


def test_what_cannot_be_redacted_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(FastrnnsError, match="file is not a database"):
        redaction.redact(path, {})
    whole = nsys_database(path, NAMES, by_id=True, strings=["x" * 50_000])
    path.write_bytes(whole.read_bytes()[:30_000])
    with pytest.raises(FastrnnsError, match="cannot redact file: "):
        redaction.redact(path, {})
    nsys_database(path, more="CREATE TABLE META_DATA_EXPORT (other)")
    with pytest.raises(FastrnnsError, match="no such column"):
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
    assert capture_checks.kineto(path, capture_checks.expected_marks(["forward"], 1))[1].ok
    assert json.loads(content)["traceEvents"][2]["name"] == "~/zqv/x.py(1): f"
    if path.suffix == ".gz":
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(FastrnnsError, match="cannot redact file"):
            redaction.redact_text(path, {})


@nsys_is_here
def test_a_capture_of_nsys_holds_secrets_until_it_is_redacted(tmp_path: Path) -> None:
    """What is tested below means something. A process beside it has secrets for its name and its only variable."""
    environment = {**os.environ, **SECRETS}
    printing = ["/bin/sh", "-c", "echo zqv of stdout; echo zqv of stderr >&2; sleep 0.3"]
    shutil.copy("/bin/sleep", tmp_path / "zqvprogram")
    with subprocess.Popen([tmp_path / "zqvprogram", "60"], env={"OTHER": "zqv9"}) as process:
        try:
            path = captured(printing, tmp_path / "capture", environment)
        finally:
            process.kill()
    left = leaks(path.parent)
    assert {"x.sqlite", "x.nsys-rep"} <= {*left}
    for part in (b"zqv1", b"zqv2", b"zqv3", b"zqv5", b"zqv6", b"zqv of stdout", b"zqv of stderr", b"zqvprogram"):
        assert any(part in text for text in left["x.sqlite"]), part
    redaction.redact(path, environment)
    assert "x.sqlite" not in leaks(path.parent)
    stats = subprocess.run([str(NSYS), "stats", str(path)], capture_output=True, text=True, check=False)
    assert stats.returncode == 0, stats.stderr


@pytest.mark.parametrize("path", captures("nsys/*.sqlite"))
def test_public_exports_are_redacted_without_a_loss(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    redaction.redact(copy, {"PATH": os.environ["PATH"]})
    checks = nsys(copy, Counter(), cuda=True)
    assert [one.found for one in checks.values()] == [one.found for one in nsys(path, Counter(), cuda=True).values()]
    if checks["kernels"].ok:
        assert kernels(copy) == kernels(path) != []
