"""Files that a user names: what is read, what is refused, and how much of it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from commands import run_cli, run_process
from conftest import ROOT
from run_files import result, run, write

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError, UsageError

RUN = ROOT / "tests" / "data" / "views" / "run.json"
RULES = ROOT / "tests" / "data" / "summary" / "views.table"
DEVICE = "device"


@contextmanager
def piped(content: bytes) -> Iterator[str]:
    """The path of a pipe that a thread writes to, as the shell's `<(…)`."""
    read, written = os.pipe()

    def write() -> None:
        # Closing writes what is left.
        with suppress(BrokenPipeError), os.fdopen(written, "wb") as file:
            file.write(content)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield f"/dev/fd/{read}"
    finally:
        os.close(read)
        thread.join()


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """A file of 10 GB that takes no room on the disk."""
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(10 << 30)
    return path


#: Each command that reads a whole file, which is None here, and the argument that the file is given for.
COMMANDS: list[tuple[list[object], str]] = [
    (["show", None], "FILE"),
    (["compare", None, RUN], "BASELINE"),
    (["compare", RUN, None], "CANDIDATE"),
    (["compare", None], "BASELINE"),
    (["bench", "--resume", None], "--resume"),
    (["report", RULES, "--categories", None], "--categories"),
]


def refused(words: list[object], path: object, place: str) -> str:
    """The reason why a command refuses a file, once its error has named the file and the argument."""
    done = run_cli(*(path if word is None else word for word in words))
    assert (done.status, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    head, colon, reason = error.partition(f"'{path}' ({place}): ")
    assert head.startswith("error: ")
    assert colon
    assert hint.startswith("hint: ")
    return reason


@pytest.mark.parametrize(("words", "place"), COMMANDS)
def test_a_device_is_refused(words: list[object], place: str) -> None:
    assert DEVICE in refused(words, "/dev/zero", place)


@pytest.mark.parametrize(("words", "place"), COMMANDS)
def test_a_file_beyond_the_limit_is_refused_by_its_size(words: list[object], place: str, sparse: Path) -> None:
    reason = refused(words, sparse, place)
    for part in ("10737418240 bytes", "512 MiB", "FASTRNNS_MAX_DOCUMENT_MIB"):
        assert part in reason


def test_the_classes_of_documents_refuse_it_too(sparse: Path, tmp_path: Path) -> None:
    for kind in (Run, Comparison):
        for path, message in ((sparse, "10737418240 bytes"), ("/dev/zero", DEVICE), (tmp_path, "Is a directory")):
            with pytest.raises(UsageError) as raised:
                kind.load(path)
            assert repr(str(path)) in raised.value.message
            assert message in raised.value.message
        with pytest.raises(UsageError, match=re.escape(repr(str(tmp_path / "nothing.json")))):
            kind.load(tmp_path / "nothing.json")


def test_a_pipe_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(reading.VARIABLE, "1")
    with piped(b"x" * (1 << 20)) as path:
        assert len(reading.content(path)) == 1 << 20
    with piped(b"x" * (3 << 20)) as path, pytest.raises(OSError, match="1 MiB.* FASTRNNS_MAX_DOCUMENT_MIB"):
        reading.content(path)


def test_pipes_are_documents(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{seed}.json", run([result(seed=seed)])) for seed in (1, 2)]
    plain = run_cli("compare", *paths).stdout.splitlines()
    with piped(Path(paths[0]).read_bytes()) as path:
        baseline, *others = run_cli("compare", path, paths[1]).stdout.splitlines()
        assert baseline.startswith(f"baseline   {path}  ")
        assert [line.split() for line in others] == [line.split() for line in plain[1:]]
    with piped(Path(paths[0]).read_bytes()) as path:
        assert run_cli("show", path).stdout == run_cli("show", paths[0]).stdout


def test_standard_input_may_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.dup(0)
    try:
        with RUN.open("rb") as file:
            os.dup2(file.fileno(), 0)
            assert Run.load("/dev/stdin").to_dict() == Run.load(RUN).to_dict()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        with pytest.raises(UsageError, match=DEVICE):
            Run.load("/dev/stdin")
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_a_terminal_is_refused() -> None:
    first, second = pty.openpty()
    try:
        with pytest.raises(OSError, match=DEVICE):
            reading.content(os.ttyname(second))
    finally:
        os.close(first)
        os.close(second)


def test_a_file_without_a_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of /proc have a size of 0 bytes, whatever they contain."""
    assert os.stat("/proc/self/status").st_size == 0
    assert b"VmPeak" in reading.content("/proc/self/status")
    with pytest.raises(OSError, match="more than 10 bytes"):
        reading.content("/proc/self/status", 10)


KERNEL_LOG = "/proc/kmsg"


@pytest.mark.skipif(not os.access(KERNEL_LOG, os.R_OK), reason=f"{KERNEL_LOG} cannot be read here")
def test_a_file_that_waits_for_news_is_refused() -> None:
    with pytest.raises(OSError, match="no end|Operation not permitted"):
        reading.content(KERNEL_LOG)


@pytest.mark.skipif(not os.access(KERNEL_LOG, os.R_OK), reason=f"{KERNEL_LOG} cannot be read here")
@pytest.mark.parametrize("words", [["report"], ["compare", RUN], ["show"]], ids=["report", "compare", "show"])
def test_no_command_waits_for_news(words: list[str | Path], tmp_path: Path) -> None:
    (tmp_path / "trace.json").symlink_to(KERNEL_LOG)
    for path in (KERNEL_LOG, tmp_path):
        done = run_process(*words, path)
        assert (done.status, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 2


def test_a_file_that_grows_is_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(b"x" * 100)
    found = os.fstat

    def growing(number: int) -> os.stat_result:
        sizes = found(number)
        with path.open("ab") as file:
            file.write(b"y" * 100)
        return sizes

    monkeypatch.setattr(reading.os, "fstat", growing)
    assert reading.content(path, 200) == b"x" * 100 + b"y" * 100
    with pytest.raises(OSError, match="more than 250 bytes"):
        reading.content(path, 250)


@pytest.mark.parametrize("given", ["", "0", "-1", "1.5", "1e3", "٣", "many", "9" * 5000, " 1"])
def test_a_limit_is_a_whole_number_above_0(given: str) -> None:
    done = run_cli("show", RUN, FASTRNNS_MAX_DOCUMENT_MIB=given)
    assert (done.status, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert error.endswith(f": {given[:40]!r} (FASTRNNS_MAX_DOCUMENT_MIB)")
    assert hint.startswith("hint: ")


def test_a_larger_limit_reads_more(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(RUN.read_text() + " " * (1 << 20))
    assert run_cli("show", path, FASTRNNS_MAX_DOCUMENT_MIB="1").status == 2
    assert run_cli("show", path, FASTRNNS_MAX_DOCUMENT_MIB="2").status == 0


@pytest.mark.parametrize("path", ["a\0b", "x" * 300, "/proc/self/mem"])
def test_what_is_no_file_is_an_error_of_the_system(path: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011  # the system words it
        reading.content(path)
    with pytest.raises(FastrnnsError) as raised:
        Run.load(path)
    assert repr(path) in raised.value.message


def test_a_byte_order_mark_is_no_part_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xef\xbb\xbf" + RUN.read_bytes())
    assert Run.load(path).to_dict() == Run.load(RUN).to_dict()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "integer string conversion"),
        ("[NaN]", "NaN "),
        ("[-Infinity]", "-Infinity "),
        ("[1e999]", "1e999 "),
        ("[1e9" + "9" * 5000 + "]", "1e9{38}… is not a number in JSON"),
    ],
)
def test_json_that_no_other_program_reads_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        reading.parsed(text)
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"{re.escape(repr(str(path)))}.*{message}"):
        Run.load(path)


def test_memory_is_bounded_whatever_comes_from_a_pipe() -> None:
    """In a process of its own, which the system keeps to little memory."""
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
from fastrnns_rs import cli
cli.main(["show", "/dev/stdin"])
"""
    with open("/dev/zero", "rb") as zeros, subprocess.Popen(["cat"], stdin=zeros, stdout=subprocess.PIPE) as cat:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=cat.stdout,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, reading.VARIABLE: "8"},
        )
        cat.kill()
    assert (done.returncode, done.stdout) == (2, "")
    error, _ = done.stderr.splitlines()
    assert "'/dev/stdin' (FILE): " in error
    assert "more than 8 MiB" in error
