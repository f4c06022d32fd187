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
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import IO, Any, get_args, get_type_hints

import numpy as np
import pytest
from conftest import run_cli
from kineto_traces import by_dice, call, document, kernel, operator, write
from test_interruption import listening
from test_report_command import validate

import fastrnns_rs
from fastrnns_rs import FastrnnsError, Summary, UsageError
from fastrnns_rs.documents.summary import TABLES, Difference


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
    assert (summary.warnings, summary.ranks, summary.inductor) == ([], [], None)
    # What one caller does to its copy is no other's business.
    plain["kernels"].clear()
    assert summary.to_dict()["kernels"]


def made_up(table: str, place: int) -> Any:
    """A row of a list, with something in every field."""
    of: dict[Any, Any] = {int: 7 + place, float: 0.5, bool: bool(place), str: f"name {place}"}
    hints = get_type_hints(TABLES[table])
    # Of what may be null, something; of words, the first.
    first = {name: [*get_args(kind), kind][0] for name, kind in hints.items()}
    values = {name: of.get(kind, kind) for name, kind in first.items()}
    if "differences" in values:
        values["differences"] = [Difference(category="gemm", delta_ns=-place)] * place
    if "grid" in values:
        values["grid"] = values["block"] = [1, 2, 3]
    return TABLES[table](**values)


@pytest.fixture
def filled(summary: Summary) -> Summary:
    """A summary that has two rows in each list, whatever its trace holds."""
    rows = {table: [made_up(table, place) for place in range(2)] for table in TABLES}
    other = Summary(summary._core)
    other._document = replace(summary.document, **rows)
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
    count = sum(row.count for row in summary.kernels)
    assert repr(summary) == f"<Summary of {path}: {count} kernels under {len(summary.kernels)} names>"
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


def test_text_is_that_of_the_command(path: Path) -> None:
    for words in ({"by": "kernel", "format": "csv"}, {"by": "api", "format": "markdown", "top": 2}, {"names": "short"}):
        flags = [word for key, value in words.items() for word in (f"--{key}", str(value))]
        assert fastrnns_rs.read(path).render(**words) == run_cli("report", path, *flags).stdout


@pytest.mark.parametrize("words", [{"format": "yaml"}, {"by": "kernels"}, {"names": "long"}])
def test_a_word_that_is_none_is_a_mistake_of_usage(words: dict[str, str], summary: Summary) -> None:
    with pytest.raises(UsageError) as caught:
        summary.render(**words)  # type: ignore[arg-type]
    assert next(iter(words.values())) in caught.value.message


def test_a_table_that_is_none_is_offered_the_nearest(summary: Summary) -> None:
    with pytest.raises(UsageError, match="no table 'kernel'.*did you mean kernels"):
        summary.columns("kernel")


def test_mistakes_are_told(path: Path) -> None:
    with pytest.raises(UsageError, match="no capture is given"):
        fastrnns_rs.read()
    with pytest.raises(UsageError, match="unclosed group"):
        fastrnns_rs.read(path, pattern="(")
    with pytest.raises(FastrnnsError, match="nowhere"):
        fastrnns_rs.read(path, path.with_name("nowhere"))


def test_what_counts_may_be_restricted(path: Path) -> None:
    whole = fastrnns_rs.read(str(path))
    some = fastrnns_rs.read(path, devices=iter([1]), streams={7}, processes=(100,), pattern="triton", since_ns=0)
    assert {row.device_id for row in some.kernels} == {1}
    assert {row.name for row in some.kernels} == {row.name for row in whole.kernels if "triton" in row.name}
    assert [row.stream_id for row in some.streams] == [7]
    shapes = fastrnns_rs.read(path, by_shape=True).kernels
    assert sum(row.count for row in shapes) == sum(row.count for row in whole.kernels)
    assert len(shapes) > len({row.name for row in shapes})


def endless(path: Path, gibibytes: float) -> Path:
    """A trace that takes long to read and little room: the same compressed piece of text again and again."""
    piece = (json.dumps(operator()) + ",\n").encode() * 10_000
    first = gzip.compress(json.dumps(document([kernel()]))[: -len('], "traceName": "trace.json"}')].encode() + b",\n")
    packed = gzip.compress(piece)
    path.write_bytes(first + packed * int(gibibytes * 2**30 / len(piece)))
    return path


READING = """
import sys
import fastrnns_rs
print("reading", flush=True)
try:
    fastrnns_rs.read(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(7)
"""


def interrupted(*command: str | Path) -> tuple[int, str, str]:
    """How a child ends that gets a Ctrl-C while it reads, and what it says; it must end quickly."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=listening) as child:
        try:
            time.sleep(3)
            assert child.poll() is None, "it has read everything already"
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            pytest.fail("it goes on as if nothing had happened")
        finally:
            child.kill()
        return child.returncode, out, err


def test_ctrl_c_ends_a_long_read(tmp_path: Path) -> None:
    path = endless(tmp_path / "x.json.gz", 60)
    assert interrupted(sys.executable, "-c", READING, path) == (7, "reading\ninterrupted\n", "")
    status, out, err = interrupted(sys.executable, "-m", "fastrnns_rs", "report", path)
    # The shell's next prompt begins a line.
    assert (status, out, err.strip()) == (130, "", "")


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A pipe into which somebody has written the beginning of a trace, and nothing since."""
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    # Whoever may read and write it need not wait for the other end.
    with open(os.open(path, os.O_RDWR), "wb", buffering=0) as file:
        text = json.dumps(document([call(), *(kernel("k", 5 * at) for at in range(100))]))
        file.write(text[: len(text) // 2].encode())
        yield path, file


def test_ctrl_c_ends_the_wait_for_a_silent_pipe(silent: tuple[Path, IO[bytes]]) -> None:
    assert interrupted(sys.executable, "-c", READING, silent[0])[:2] == (7, "reading\ninterrupted\n")


def test_ctrl_c_ends_the_wait_for_whoever_writes_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert interrupted(sys.executable, "-c", READING, tmp_path / "pipe.json")[:2] == (7, "reading\ninterrupted\n")


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
    found: dict[int, Any] = {}

    def read(place: int) -> None:
        found[place] = fastrnns_rs.read(paths[place]).to_dict()

    threads = [threading.Thread(target=read, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[place] for place in range(4)] == expected
