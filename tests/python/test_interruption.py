"""What happens when a bench is told to stop, or loses its parent."""

from __future__ import annotations

import contextlib
import itertools
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import command_with_facts
from conftest import PLANTED, TINY
from parts import few
from processes import AT_ONCE_S, left_of, marked
from supervised import listening

from fastrnns_rs._core import Process
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes import listener
from fastrnns_rs.processes.launcher import Start, launch, launch_together
from fastrnns_rs.processes.listener import Terms

#: Each holds how soon something has ended.
pytestmark = pytest.mark.alone


__all__ = ["listening"]


def deaf_to_hang_ups() -> None:
    listening()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextlib.contextmanager
def start(
    output: Path, *runners: str, signals: Callable[[], None] = listening, asks_torch: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """A bench; a file `ready` comes into being beside its output when a runner hangs."""
    words = ["bench", "--group", "rnns", "--runner-file", str(PLANTED)]
    # In this order, once each.
    words += ["--processes", "1", "--order-seed", "8", "--nloops", "20", "--warmup", "5"]
    words += ["--device", "cpu", "--output", str(output), *TINY, "--rnns", *runners]
    command = [sys.executable, "-m", "fastrnns_rs", *words] if asks_torch else command_with_facts(*words)
    environment = {**os.environ, "PLANTED_READY": str(output.with_name("ready"))}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stderr=pipe, stdout=pipe, env=environment, preexec_fn=signals) as process:
        try:
            yield process
        finally:
            # A test that fails must not wait for what it failed to end.
            process.kill()


def wait_until_it_hangs(output: Path) -> None:
    deadline = time.monotonic() + 60
    while not output.with_name("ready").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    """Processes that a bench started, and theirs, whether or not it still lives."""
    return [*marked(f"FASTRNNS_COMMAND={pid}-")]


@pytest.mark.parametrize(
    ("runner", "number"),
    few(
        [("hangs", signal.SIGINT), ("hangs_deaf", signal.SIGTERM)],
        itertools.product(["hangs", "hangs_deaf"], [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]),
        "kills",
    ),
)
def test_a_request_to_stop_ends_it_at_once(number: signal.Signals, runner: str, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    with start(output, "sound", runner, "prints") as process:
        wait_until_it_hangs(output)
        assert len(children(process.pid)) == (1 if runner == "hangs" else 2)
        process.send_signal(number)
        assert process.wait(AT_ONCE_S) == 130
        assert not children(process.pid)
    run = Run.load(output)
    assert run.status == "interrupted"
    assert run.plan.stopped_by == "interrupt"
    assert [result.runner for result in run.results] == ["sound", runner]
    assert run["sound"].status == "ok"
    assert run[runner].processes[0].status == "interrupted"
    assert run[runner].reason == "interrupted"
    # What was measured until then is there, unless the interpreter itself was held.
    assert len(run[runner].processes[0].forward_ns) == (2 if runner == "hangs" else 0)


@pytest.mark.long("kills")
def test_under_nohup_a_hang_up_is_ignored(tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    with start(output, "sound", signals=deaf_to_hang_ups) as process:
        while not children(process.pid):
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        process.stderr.read()
        assert process.wait(60) == 0
    assert Run.load(output).status == "complete"


def test_it_may_be_stopped_while_torch_is_asked(tmp_path: Path) -> None:
    with start(tmp_path / "run.json", "sound", asks_torch=True) as process:
        while not children(process.pid):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
        assert b"Traceback" not in process.stderr.read()
        assert not children(process.pid)


@pytest.mark.parametrize("runner", few(["hangs_deaf"], ["hangs", "hangs_deaf"], "kills"))
def test_a_worker_does_not_outlive_its_parent(runner: str, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    with start(output, "sound", runner) as process:
        wait_until_it_hangs(output)
        assert children(process.pid)
        process.kill()
        process.wait()
        assert not left_of(f"FASTRNNS_COMMAND={process.pid}-")
    run = Run.load(output)
    assert (run.status, run["sound"].status) == ("interrupted", "ok")


def test_a_terminal_shows_progress_and_loses_no_row(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "fastrnns_rs", "bench", "--group", "rnns", "--runner-file", str(PLANTED)]
    command += ["--processes", "1", "--order-seed", "8", "--device", "cpu", *TINY, "--rnns", "sound", "prints"]
    with (tmp_path / "stdout").open("wb") as stdout:
        process = subprocess.Popen(command, stderr=theirs, stdout=stdout, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    text = b""
    while process.poll() is None or select.select([ours], [], [], 0.1)[0]:
        try:
            text += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    assert process.wait() == 0
    assert b"importing torch" in text
    assert b"2 processes" in text
    rows = [line.split()[0] for line in (tmp_path / "stdout").read_text().splitlines() if line]
    assert [name for name in rows if name in {"sound", "prints"}] == ["sound", "prints"]


def test_a_worker_that_babbles_is_heard_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last 64 KiB of what a worker prints are kept, and pipes never fill up."""
    child = (
        "import sys, json; sys.stdin.readline();"
        "sys.stderr.write('x' * 5_000_000 + 'the end');"
        "print(json.dumps({'kind': 'phase', 'name': 'build'}));"
        "print(json.dumps({'kind': 'result', 'status': 'ok', 'payload': list(range(300_000))}))"
    )
    monkeypatch.setattr(
        "fastrnns_rs.processes.listener.Process", lambda _command, env: Process([sys.executable, "-c", child], env=env)
    )
    phases: list[str] = []
    answer = launch(Start(job={}, terms=Terms(timeout=60, on_phase=phases.append)))
    assert answer.ended == "answered"
    assert answer.content["payload"][-1] == 299_999
    assert phases == ["build"]
    assert len(answer.printed) == 64 * 1024
    assert answer.printed.endswith("the end")


@pytest.mark.parametrize("workers", [1, 3])
def test_a_time_in_which_all_was_stopped_is_in_no_time_limit(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as that of a container that is paused."""
    now = 0.0

    class Stopped:
        ended = False
        reads = 0

        def write(self, _line: bytes) -> None:
            """Takes the job."""

        def read_lines(self, seconds: float) -> bytes:
            nonlocal now
            self.reads += 1
            now += 100.0 if now == 0.0 else min(seconds, 0.5)
            self.ended = self.reads == 20
            return b'{"kind": "result", "status": "ok"}\n' if self.ended else b""

        def end(self) -> Any:
            return SimpleNamespace(signal=None, exit_status=0, stderr_tail="")

    monkeypatch.setattr(listener, "Process", lambda _command, env: Stopped())  # noqa: ARG005
    monkeypatch.setattr(listener, "time", SimpleNamespace(monotonic=lambda: now))
    answers = launch_together([Start(job={}, terms=Terms(timeout=60))] * workers)
    assert [one.ended for one in answers] == ["answered"] * workers


@pytest.mark.parametrize(
    ("begins", "end", "ended"), [([40], 80, "answered"), ([], 80, "timed_out"), ([40, 80], 120, "timed_out")]
)
def test_the_first_empty_part_restarts_the_time_limit(
    begins: list[int], end: int, ended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It follows the import of torch. A runner that sends more of them has no more time."""
    now, left = 0.0, [*begins]

    class Slow:
        ended = False

        def write(self, _line: bytes) -> None:
            """Takes the job."""

        def read_lines(self, seconds: float) -> bytes:
            nonlocal now
            now += min(seconds, 0.5)
            if left and now >= left[0]:
                left.pop(0)
                return b'{"kind": "part"}\n'
            self.ended = now >= end
            return b'{"kind": "result", "status": "ok"}\n' if self.ended else b""

        def end(self) -> Any:
            return SimpleNamespace(signal=None, exit_status=0, stderr_tail="")

    monkeypatch.setattr(listener, "Process", lambda _command, env: Slow())  # noqa: ARG005
    monkeypatch.setattr(listener, "time", SimpleNamespace(monotonic=lambda: now))
    assert launch(Start(job={}, terms=Terms(timeout=60))).ended == ended


def test_ctrl_c_while_the_command_loads_is_no_traceback(tmp_path: Path) -> None:
    hook = "import builtins, sys\nimport fastrnns_rs\ndef find(name, *rest, **more):\n"
    hook += "    if name.startswith('fastrnns_rs.cli'): raise KeyboardInterrupt\n    return real(name, *rest, **more)\n"
    hook += "real, builtins.__import__ = builtins.__import__, find\nfrom fastrnns_rs import __main__\n__main__.main()\n"
    done = subprocess.run([sys.executable, "-c", hook], capture_output=True, cwd=tmp_path, check=False, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
