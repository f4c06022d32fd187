"""`fastrnns_rs.read`: what comes of it, and that reading gets in nobody's way."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import run_cli
from interrupting import interrupt
from kineto_traces import by_dice, call, document, kernel, operator, write
from summary_documents import summary_of
from test_interruption import listening
from test_report_command import validate

import fastrnns_rs
from fastrnns_rs import FastrnnsError, Summary, UsageError
from fastrnns_rs.documents.codec import from_plain
from fastrnns_rs.documents.summary import TABLES, SummaryDocument


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "x.json", by_dice(21))


@pytest.fixture
def summary(path: Path) -> Summary:
    return fastrnns_rs.read(path)


def test_rows_are_those_of_the_document(summary: Summary) -> None:
    plain = summary.to_dict()
    validate(plain)
    assert {*TABLES} == {key for key, value in plain.items() if isinstance(value, list)} - {"captures", "warnings"}
    for table in TABLES:
        rows = getattr(summary, table)
        assert [asdict(row) for row in rows] == plain[table]
        assert all(isinstance(row, TABLES[table]) for row in rows)
    assert asdict(summary.launches) == plain["launches"]
    assert summary.launches.matched_count + summary.launches.unmatched_kernel_count > 0
    assert summary.kernels[0].total_ns == plain["kernels"][0]["total_ns"]
    assert [asdict(row) for row in summary.captures] == plain["captures"]
    # Its kernels are at random times, some of them before their launches.
    assert {one.code for one in summary.warnings} <= {"clocks_disagree"}
    assert (summary.ranks, summary.inductor) == ([], None)
    # What one caller does to its copy is no other's business.
    plain["kernels"].clear()
    assert summary.to_dict()["kernels"]


@pytest.fixture
def filled(summary: Summary) -> Summary:
    """A summary that has rows in each list, whatever its trace holds."""
    other = Summary(summary._core)
    other._document = from_plain(SummaryDocument, summary_of("one", "other"))
    return other


@pytest.mark.parametrize("made", ["summary", "filled"])
@pytest.mark.parametrize("table", TABLES)
def test_columns_are_arrays_of_one_length(table: str, made: str, request: pytest.FixtureRequest) -> None:
    summary = request.getfixturevalue(made)
    rows, columns = getattr(summary, table), summary.columns(table)
    assert [*columns] == [field.name for field in fields(TABLES[table])]
    kinds = {"int": np.int64, "float": np.float64, "int | None": np.float64, "float | None": np.float64}
    kinds["bool"] = np.bool_
    for field in fields(TABLES[table]):
        column, values = columns[field.name], [getattr(row, field.name) for row in rows]
        assert column.dtype == kinds.get(str(field.type), np.object_), field
        assert len(column) == len(rows)
        assert rows or made == "summary"
        if column.dtype == np.object_:
            assert column.tolist() == values
        else:
            known = [value is not None for value in values]
            assert (~np.isnan(column.astype(float))).tolist() == known
            assert column[known].tolist() == [value for value in values if value is not None]
    if table == "kernels":
        assert columns["total_ns"].sum() == sum(row.total_ns for row in rows)


def test_what_is_unknown_is_no_number(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(write(tmp_path / "x.json", [kernel("once", 1, 2, device=None)]))
    columns = summary.columns("kernels")
    assert np.isnan(columns["stddev_ns"]).all()
    assert np.isnan(columns["registers_per_thread"]).all()
    assert columns["mangled_name"].tolist() == [None]
    assert columns["grid"].tolist() == [[1, 1, 1]]
    assert {len(column) for column in summary.columns("memory_operations").values()} == {0}
    assert summary.columns("memory_operations")["count"].dtype == np.int64


def test_a_summary_says_what_it_is(summary: Summary, path: Path) -> None:
    launches, names = sum(row.count for row in summary.kernels), len({row.name for row in summary.kernels})
    head, *table = repr(summary).split("\n")
    assert head == f"<Summary {path.name}: 2 GPUs, 11.8 % busy, {launches} launches, {names} kernels>"
    assert table == summary.render().split("\n")[3 : 3 + len(table)]
    with pytest.raises(AttributeError, match="'Summary' object has no attribute 'kernel'"):
        _ = summary.kernel
    assert not hasattr(summary, "_nothing")


def test_a_summary_is_saved_as_its_document(summary: Summary, tmp_path: Path, path: Path) -> None:
    for place in (tmp_path / "s.json", str(tmp_path / "t.json")):
        summary.save(place)
        assert Path(place).read_text() == summary.to_json()
        assert json.loads(Path(place).read_text()) == summary.to_dict()
    assert run_cli("report", path, "--json").stdout == summary.to_json()
    for place in (tmp_path, tmp_path / "no" / "x.json"):
        with pytest.raises(UsageError):
            summary.save(place)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["s.json", "t.json", "x.json"]


#: Flags of `report` with another name than the keyword of `render`.
FLAGS = {"view": "by"}


def test_text_is_that_of_the_command(summary: Summary, path: Path) -> None:
    kernels, calls = {"view": "kernel", "format": "csv"}, {"view": "api", "format": "markdown"}
    every = [{}, kernels, calls, {"names": "short"}, {**kernels, "top": 2}, {**calls, "top": 0}]
    texts = [summary.render(**words) for words in every]  # type: ignore[arg-type]
    assert len({*texts}) == len(every)
    for text, words in zip(texts, every, strict=True):
        flags = [word for key, value in words.items() for word in (f"--{FLAGS.get(key, key)}", str(value))]
        assert run_cli("report", path, *flags).stdout == text


@pytest.mark.parametrize(("key", "word"), [("format", "yaml"), ("view", "kernels"), ("names", "long")])
def test_a_word_that_is_none_is_a_mistake_of_usage(key: str, word: str, summary: Summary, path: Path) -> None:
    with pytest.raises(UsageError, match=word):
        summary.render(**{key: word})  # type: ignore[arg-type]
    flag = f"--{FLAGS.get(key, key)}"
    done = run_cli("report", path, flag, word)
    assert (done.status, flag in done.stderr) == (2, True)


def test_a_table_that_is_none_is_offered_the_nearest(summary: Summary) -> None:
    with pytest.raises(UsageError, match="'kernel'.*'kernels'"):
        summary.columns("kernel")


def test_mistakes_are_told(path: Path) -> None:
    with pytest.raises(UsageError, match="`paths`"):
        fastrnns_rs.read()
    with pytest.raises(UsageError, match="unclosed group"):
        fastrnns_rs.read(path, pattern="(")
    with pytest.raises(FastrnnsError, match="nowhere"):
        fastrnns_rs.read(path, path.with_name("nowhere"))
    with pytest.raises(UsageError, match="file not found"):
        fastrnns_rs.read("\ud800.json")


class _BytesPath:
    def __fspath__(self) -> bytes:
        return b"x.json"


@pytest.mark.parametrize("wrong", [None, 5, b"x.json", ["x.json"], _BytesPath()])
def test_a_value_of_another_type_is_no_path(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"not a path: .* \(paths\)"):
        fastrnns_rs.read(wrong)


def test_what_counts_may_be_restricted(path: Path) -> None:
    whole = fastrnns_rs.read(str(path))
    assert whole == fastrnns_rs.read(path)
    assert whole != whole.to_dict()
    some = fastrnns_rs.read(path, devices=iter([1]), streams={7}, processes=(100,), pattern="triton", since_ns=0)
    assert whole != some
    assert {row.device_id for row in some.kernels} == {1}
    assert {row.name for row in some.kernels} == {row.name for row in whole.kernels if "triton" in row.name}
    assert [row.stream_id for row in some.streams] == [7]
    shapes = fastrnns_rs.read(path, kernels_by="shape").kernels
    assert sum(row.count for row in shapes) == sum(row.count for row in whole.kernels)
    assert len(shapes) > len({row.name for row in shapes})


def endless(path: Path, gibibytes: float) -> Path:
    """A trace that takes long to read and little room: the same compressed piece of text again and again."""
    piece = (json.dumps(operator()) + ",\n").encode() * 10_000
    first = gzip.compress(json.dumps(document([kernel()]))[: -len('], "traceName": "trace.json"}')].encode() + b",\n")
    packed = gzip.compress(piece)
    path.write_bytes(first + packed * int(gibibytes * 2**30 / len(piece)))
    return path


def interrupt_read(*paths: Path) -> None:
    interrupt("import fastrnns_rs", f"fastrnns_rs.read(*{[str(path) for path in paths]!r})", after=2)


def test_ctrl_c_ends_a_long_read(tmp_path: Path) -> None:
    path = endless(tmp_path / "x.json.gz", 60)
    interrupt_read(path)
    pipe, command = subprocess.PIPE, [sys.executable, "-m", "fastrnns_rs", "report", path]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=listening) as child:
        try:
            time.sleep(3)
            assert child.poll() is None, "it has read everything already"
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    # The shell's next prompt begins a line.
    assert (child.returncode, out, err.strip()) == (130, "", "")


@contextmanager
def silent_pipe(path: Path) -> Iterator[Path]:
    """A pipe into which somebody has written the beginning of a trace, and nothing since."""
    os.mkfifo(path)
    # Whoever may read and write it need not wait for the other end.
    with open(os.open(path, os.O_RDWR), "wb", buffering=0) as file:
        text = json.dumps(document([call(), *(kernel("k", 5 * at) for at in range(100))]))
        file.write(text[: len(text) // 2].encode())
        yield path


def test_ctrl_c_ends_the_wait_for_pipes(tmp_path: Path) -> None:
    """For one that is silent, for several, each on its own thread, and for one that nobody has opened to write."""
    os.mkfifo(tmp_path / "closed.json")
    with silent_pipe(tmp_path / "alone.json") as alone:
        interrupt_read(alone)
    with silent_pipe(tmp_path / "one.json") as one, silent_pipe(tmp_path / "other.json") as other:
        interrupt_read(one, other)
    interrupt_read(tmp_path / "closed.json")


def test_a_gzip_stream_without_content_is_refused(tmp_path: Path) -> None:
    """A pipe may have empty members without end, and reading them could not be interrupted."""
    path, empty = tmp_path / "x.json.gz", gzip.compress(b"")
    content = gzip.compress(json.dumps(document([kernel("k", 5)])).encode())
    path.write_bytes(1000 * empty + content + empty)
    assert [row.count for row in fastrnns_rs.read(path).kernels] == [1]
    path.write_bytes(100_000 * empty + content)
    with pytest.raises(FastrnnsError, match="not a capture"):
        fastrnns_rs.read(path)


def test_other_threads_go_on_while_a_file_is_read(tmp_path: Path) -> None:
    path = endless(tmp_path / "x.json.gz", 1)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        started = time.monotonic()
        summary = fastrnns_rs.read(path)
        ended = time.monotonic()
    finally:
        done.set()
        thread.join()
    during = sum(started < at < ended for at in ticks)
    assert during > 10, (during, ended - started)
    assert [row.count for row in summary.kernels] == [1]


def test_threads_may_read_at_once(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{seed}.json", by_dice(seed, 2000)) for seed in range(4)]
    expected = [fastrnns_rs.read(path).to_dict() for path in paths]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda path: fastrnns_rs.read(path).to_dict(), paths)] == expected


def test_json_comes_in_pieces_too(tmp_path: Path) -> None:
    """As one text, in a file and piece by piece it is the same document."""
    summary = fastrnns_rs.read(write(tmp_path / "x.json", [kernel(f"k{place}\x9b", place) for place in range(5000)]))
    pieces: list[bytes] = []
    summary.write_json(pieces.append)
    summary.save(tmp_path / "saved.json")
    assert len(pieces) > 1
    assert b"".join(pieces).decode() == summary.to_json() == (tmp_path / "saved.json").read_text()
    assert json.loads(summary.to_json()) == summary.to_dict()
    assert summary.warning_rows() == summary.to_dict()["warnings"]


def test_a_function_that_takes_no_pieces_ends_the_writing(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(write(tmp_path / "x.json", [kernel()]))

    pieces = 0

    def refuse(_: bytes) -> None:
        nonlocal pieces
        pieces += 1
        raise ZeroDivisionError("no room")

    with pytest.raises(ZeroDivisionError, match="no room"):
        summary.write_json(refuse)
    assert pieces == 1
