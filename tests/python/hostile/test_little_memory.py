"""Calls that run out of memory end with an exception, never with the interpreter."""

from __future__ import annotations

import functools
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import nsys_exports
import pytest
from kineto_traces import write
from parts import few

from fastrnns_rs import cli

#: The start of a program that works with little memory: `work` is called with so many more bytes than it has by then.
PROGRAM = """
import os, resource, sys
{prepare}
def pages():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
before, more = pages(), int(sys.argv[1])
if more:
    resource.setrlimit(resource.RLIMIT_AS, (before + more, before + more))
try:
    {work}
    print("done", flush=True)
except MemoryError as error:
    print("MemoryError", error, flush=True)
if not more:
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmPeak"))
    print(int(peak.split()[1]) * 1024 - before, flush=True)
# Not the end of the interpreter: numpy and others run code there.
os._exit(0)
"""
READ = "from fastrnns_rs._core import Trace; files = [({path!r}, 'one')]"
SAMPLES = (
    "import numpy as np; from fastrnns_rs import _core as stats; "
    "samples = np.random.default_rng(1).lognormal(0, 0.1, 1_500_000)"
)
#: Code that prepares a task, and code that runs with little memory.
TASKS = {
    "trace": (READ, "Trace(files)"),
    "export": (READ, "Trace(files)"),
    "summary": (f"{READ}; trace = Trace(files)", "trace.summarize().to_dict()"),
    "packed": (f"{READ}; trace = Trace(files)", "Trace.from_bytes(trace.to_bytes()).repeats()"),
    "quantiles": (SAMPLES, "stats.quantiles(samples, [0.5])"),
    "modality": (SAMPLES, "stats.modality(samples[:200_000])"),
    "list": (f"{SAMPLES}; listed = samples.tolist()", "stats.summarize(listed)"),
    "bootstrap": (SAMPLES, "stats.bootstrap_ci(samples[:500], resamples=2_000_000)"),
    "transforms": (SAMPLES, "stats.autocorrelation(samples, max_lag=100_000)"),
}
#: Shares of the memory that a call takes where there is enough.
SHARES = [place / 40 for place in range(41)]


@functools.cache
def captures(folder: Path) -> dict[str, Path]:
    """A trace and an export with many kernels and ranges, no two of one name."""
    lines = []
    for number in range(30_000):
        start = number * 20
        lines += [
            (
                f'{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": {number % 3}, '
                f'"ts": {start}, "dur": 3, "args": {{"correlation": {number + 1}}}}}'
            ),
            (
                f'{{"ph": "X", "cat": "kernel", "name": "kernel {number}", "pid": 0, "tid": 7, "ts": {start + 5}, '
                f'"dur": 4, "args": {{"device": 0, "stream": {number % 4}, "correlation": {number + 1}, '
                f'"grid": [{number}, 1, 1]}}}}'
            ),
            (
                f'{{"ph": "X", "cat": "user_annotation", "name": "range {number}", "pid": 9, "tid": {number % 3}, '
                f'"ts": {start - 1}, "dur": 9, "args": {{}}}}'
            ),
        ]
    trace = write(folder / "trace.json", '{"traceEvents": [' + ",\n".join(lines) + "]}")
    export = folder / "export.sqlite"
    with closing(sqlite3.connect(export)) as database:
        database.executescript(nsys_exports.TABLES)
        thread, numbers = nsys_exports.thread(9, 5), range(60_000)
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", ((9 + one, f"kernel {one}") for one in numbers))
        database.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, 2, NULL)",
            ((100 * one, 100 * one + 50, one % 4, one + 1, thread & ~0xFFFFFF, 9 + one) for one in numbers),
        )
        database.executemany(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (?, ?, 59, ?, ?, 0)",
            ((100 * one - 40, 100 * one + 20, f"range {one}", thread) for one in numbers),
        )
        database.commit()
    return {"export": export, "trace": trace}


def run(task: str, folder: Path, more: int) -> subprocess.CompletedProcess[str]:
    files = captures(folder)
    prepare, work = TASKS[task]
    program = PROGRAM.format(prepare=prepare.format(path=str(files.get(task, files["trace"]))), work=work)
    # A backtrace of a lack of memory would itself take memory.
    variables = {**os.environ, "RUST_BACKTRACE": "1"}
    words = [sys.executable, "-c", program, str(more)]
    return subprocess.run(words, capture_output=True, text=True, env=variables, timeout=300, check=False)


@functools.cache
def peak(task: str, folder: Path) -> int:
    """Memory that a call takes where there is enough, in bytes."""
    done = run(task, folder, 0)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures")


@pytest.mark.parametrize("share", few([0.25, 0.7], SHARES, "reading"))
@pytest.mark.parametrize("task", few(["trace", "export", "summary"], TASKS, "reading"))
def test_a_call_ends_with_its_result_or_an_exception(task: str, share: float, folder: Path) -> None:
    done = run(task, folder, max(1, int(peak(task, folder) * share)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("done", "MemoryError")), done.stdout
    assert "panicked" not in done.stderr


def test_lack_of_memory_is_named_and_the_next_call_works(folder: Path) -> None:
    program = (
        "import resource\n"
        f"{READ.format(path=str(captures(folder)['trace']))}\n"
        "limit = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + (20 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))\n"
        "try: Trace(files)\n"
        "except MemoryError as error: print(error)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "print(Trace(files).capture_count)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    message, count = done.stdout.splitlines()
    assert message.startswith("out of memory")
    assert (count, done.stderr) == ("1", "")


def test_a_command_says_so_in_one_line(folder: Path) -> None:
    program = (
        "import resource, sys\n"
        "from fastrnns_rs.cli import main, report\n"
        "limit = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + (24 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "main(['report', sys.argv[1]])"
    )
    words = [sys.executable, "-c", program, str(captures(folder)["trace"])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: out of memory")
    assert "(ulimit -v)" in hint


@pytest.mark.parametrize("lack", [MemoryError(), OSError(24, "Too many open files")])
def test_an_error_without_the_means_to_describe_it_is_one_line(
    lack: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The modules that describe it need memory and open files, which were tracebacks."""

    def described(_error: Exception) -> tuple[str, str, int]:
        raise lack

    monkeypatch.setattr(cli, "_described", described)
    with pytest.raises(SystemExit) as ended:
        cli.main(["show", "missing\x1b[31m.json"])
    assert ended.value.code == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert "\x1b" not in error
