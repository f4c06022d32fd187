"""Files that are no captures, and traces made to exhaust whoever reads them: one line, one hint, little memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from conftest import run_cli
from kineto_traces import call, document, kernel, operator, write
from parts import few
from test_report_damage import assert_tells

import fastrnns_rs
from fastrnns_rs import FastrnnsError
from fastrnns_rs.cli.exit_codes import find_exit_code

TEXT = json.dumps(document([call(), kernel()]))
MIB = 1 << 20


def database(statement: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as found:
        found.execute(statement)
        return found.serialize()


def tar_archive() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("captures/trace.json"))
    return made.getvalue()


#: Files that are no captures, by what the error says of them.
STRANGERS = {
    "is an empty file": b"",
    "looks like a web page": b"\n<!DOCTYPE html>\n<html><head><title>Sign in to GitHub</title></head></html>",
    "looks like a session of the Visual Profiler": b'<?xml version="1.0" encoding="UTF-8"?>\n<session></session>',
    "is a run": b'{"schema": "fastrnns-rs/run", "schema_version": "1.0", "results": []}',
    "is a summary": b'{"schema": "fastrnns-rs/summary", "kernels": [{"name": "k"}]}',
    "text is in UTF-16": TEXT.encode("utf-16"),
    "JSON without traceEvents": b'{"a": [{"b": 1}], "traceEvents2": []}',
    "without traceEvents": b'{"traceEvents": {"ph": "X"}}',
    "contains no event": b'[1, 2, 3, ["a"]]',
    "text, but not a JSON trace": b"Generating SQLite file report.sqlite from report.nsys-rep\n",
    "is a ZIP archive": b"PK\x03\x04" + bytes(100),
    "the file is an archive": tar_archive(),
    "unknown format": bytes(10_000),
    "is a program": b"\x7fELF" + b"\0\x01\x02\x03" * 2_000,
    "is an SQLite database": database("CREATE TABLE t (a)"),
    "is a damaged SQLite database": b"SQLite format 3\0" + bytes(5_000),
}


@pytest.mark.parametrize("said", STRANGERS)
def test_a_file_that_is_no_capture_is_refused_by_what_it_is(said: str, tmp_path: Path) -> None:
    for number, content in enumerate((STRANGERS[said], gzip.compress(STRANGERS[said]))):
        # A database is read where it lies: it cannot be compressed.
        if number and "SQLite database" in said:
            continue
        path = tmp_path / f"it's a file {number}.json"
        path.write_bytes(content)
        done = run_cli("report", path)
        # A file of another kind is a wrong argument, even if its kind is unknown. A damaged trace is none.
        assert_tells(done, 1 if said == "without traceEvents" else 2)
        assert said in done.stderr
        assert str(path) in done.stderr
        with pytest.raises(FastrnnsError, match=said):
            fastrnns_rs.read(path)


DAMAGED = {
    "a gzip header": b"\x1f\x8bxxxxxxxx",
    "an nsys stream": b"U3w[END]" + bytes(100),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_capture_is_no_mistake_of_usage(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(content)
    done = run_cli("report", path, PATH="")
    assert done.status in {1, 5}, done.stderr
    assert f"'{path}'" in done.stderr


def test_a_pipe_of_text_is_a_mistake_of_usage() -> None:
    command = f'echo text | "{sys.executable}" -m fastrnns_rs report /dev/stdin'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "not a capture: '/dev/stdin'" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("other", ["folder", "missing", "a\0b", "dangling", "in a file/x", "n" * 300])
def test_what_cannot_be_opened_is_named(other: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    write(tmp_path / "in a file", TEXT)
    path = tmp_path / other
    with pytest.raises(FastrnnsError) as caught:
        fastrnns_rs.read(path)
    assert find_exit_code(caught.value) == 2
    assert caught.value.hint
    if "\0" not in other:
        assert_tells(run_cli("report", path), 2)


def test_no_file_at_all_is_a_mistake_of_usage() -> None:
    done = run_cli("report")
    assert done.status == 2
    assert "FILE" in done.stderr


@pytest.mark.parametrize("name", [b"\xff\xfe.json", "模型 é.json".encode(), b"new\nline\x1b[31m.json"])
def test_a_file_may_be_called_anything(name: bytes, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_text(TEXT)
    done = subprocess.run([sys.executable, "-m", "fastrnns_rs", "report", path], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    path.write_text("{}")
    done = subprocess.run([sys.executable, "-m", "fastrnns_rs", "report", path], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"without traceEvents" in done.stderr


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    """`fastrnns-rs report <(zstd -dc trace.zst)`: what looks at the file first must not take its beginning away."""
    path = write(tmp_path / "x.json", json.dumps(document([call(), *(kernel("k", 5 * at + 0.5) for at in range(200))])))
    command = f'cat "{path}" | "{sys.executable}" -m fastrnns_rs report /dev/stdin --by kernel --format csv'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].split(",")[3] == "200"


def test_no_message_carries_what_moves_a_terminal(tmp_path: Path) -> None:
    """What a file says of itself stands in the error: it is no more trusted than a kernel's name."""
    content = '{"schema": "\\u001b[2J\\u0007\\b\\u009b31m\\u202e", "schema_version": "1.0"}'
    done = run_cli("report", write(tmp_path / "x.json", content))
    assert_tells(done, 2)
    assert not {one for one in done.stderr if not one.isprintable() and one != "\n"}, ascii(done.stderr)


#: What a child needs at most beyond an ordinary read: its own peak, in KiB.
PEAK = """
import sys
import fastrnns_rs
try:
    summary = fastrnns_rs.read(sys.argv[1])
    summary.render()
    print(sum(row.count for row in summary.kernels), end=" ")
except fastrnns_rs.FastrnnsError:
    print(-1, end=" ")
with open("/proc/self/status") as status:
    print(*(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
LIMIT_KIB = 64 * 1024


def peak(path: Path) -> tuple[int, int]:
    """How many kernels a child finds, and its peak of memory in KiB."""
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, timeout=300, check=True)
    assert done.stderr == ""
    found, used = done.stdout.split()
    return int(found), int(used)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak of reading next to nothing."""
    return peak(write(tmp_path_factory.mktemp("usual") / "x.json", TEXT))[1]


FIRST, LAST = json.dumps(kernel("first", 1)), json.dumps(kernel("last", 9))


# `~` stands for 50 MiB, which are made only when a test runs.
@pytest.mark.parametrize(
    ("before", "between", "filling", "found"),
    [
        pytest.param("", json.dumps(kernel("~")), "n", 2, id="name of a kernel"),
        pytest.param("", json.dumps(operator("~")), "n", 2, id="name of an operator"),
        pytest.param("", json.dumps(kernel("k", 5, 1, x="~")), "n", 2, id="argument"),
        pytest.param("", json.dumps({**operator("k"), "~": 1}), "n", 2, id="key"),
        pytest.param("", json.dumps(operator("k", x="~")).replace('"~"', "~"), "1", 2, id="number"),
        pytest.param("", json.dumps(operator("k", x="~")).replace('"~"', "[~1]"), "1, ", 2, id="list"),
        pytest.param('"x": "~", ', "{}", "n", 2, id="metadata"),
        pytest.param('"x": [~1], ', "{}", "1, ", 2, id="list of metadata"),
        pytest.param('"~": 1, ', "{}", "n", None, id="key of metadata"),
    ],
)
def test_something_long_takes_little_memory(
    before: str, between: str, filling: str, found: int | None, usual: int, tmp_path: Path
) -> None:
    text = f'{{{before}"traceEvents": [{FIRST},\n{between},\n{LAST}]}}'
    text = text.replace("~", filling * (50 * MIB // len(filling)))
    kernels, used = peak(write(tmp_path / "x.json", text))
    assert found is None or kernels == found
    assert used - usual < LIMIT_KIB


@pytest.mark.parametrize("filling", [b" ", b"\0", b"\n", b"[", b"{", b"1", b"x", b"}", b'{"a":'])
@pytest.mark.parametrize("place", few(["between events"], ["between events", "in front", "behind"], "reading"))
def test_a_bomb_takes_little_memory(filling: bytes, place: str, usual: int, tmp_path: Path) -> None:
    """A few hundred kilobytes that unpack to a hundred megabytes."""
    bomb = gzip.compress(filling * (4 * MIB // len(filling)), 1) * 25
    first, last = f'{{"traceEvents": [{FIRST},\n'.encode(), f",\n{LAST}]}}".encode()
    parts = {
        "between events": [gzip.compress(first), bomb, gzip.compress(last)],
        "in front": [bomb, gzip.compress(first[:-2] + last)],
        "behind": [gzip.compress(first[:-2] + last), bomb],
    }
    path = tmp_path / "x.gz"
    path.write_bytes(b"".join(parts[place]))
    found, used = peak(path)
    assert path.stat().st_size < MIB
    assert used - usual < LIMIT_KIB
    if place == "behind" or (filling.isspace() and place == "between events"):
        assert found == 2
