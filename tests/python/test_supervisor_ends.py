"""The end of the supervisor of a command, and signals that stop it: nothing of the command stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from processes import AT_ONCE_S, left_of, marked, wait_for
from supervised import HUNDRED, PRELUDE, kill_supervisor_of, shell, started, supervisors

from fastrnns_rs._core import run_command

#: Each holds how soon something has ended.
pytestmark = pytest.mark.alone


@pytest.mark.parametrize(
    "script",
    [
        "sleep MARK & wait",
        "setsid sleep MARK & wait",
        "(setsid sleep MARK &) ; sleep 60",
        "env -i sleep MARK & wait",
        "(env -i sleep MARK &) ; sleep 60",
        "setsid env -i sleep MARK & wait",
        "exec env -i sh -c 'sleep MARK & (sleep MARK &) ; setsid sleep MARK & wait'",
    ],
)
def test_the_end_of_the_supervisor_is_the_end_of_the_command(script: str, mark: str) -> None:
    with ThreadPoolExecutor() as pool:
        done = pool.submit(run_command, shell(script, mark))
        wait_for(mark, 1 + script.count("MARK"))
        kill_supervisor_of(mark)
        with pytest.raises(RuntimeError, match="^the command could not be supervised: [^\n]*supervisor[^\n]*$"):
            done.result(5)
    assert not left_of(mark)
    assert run_command(["true"]).exit_status == 0


def test_the_end_of_the_supervisor_as_it_starts_a_command(mark: str) -> None:
    """Between two processes that it makes one of, or before it has said that there is a command."""

    def end_supervisors(after: float) -> None:
        begin = time.perf_counter()
        while time.perf_counter() - begin < after:
            pass
        for pid in supervisors():
            os.kill(pid, signal.SIGKILL)

    left = {}
    for index in range(40):
        run_command(["true"])
        with ThreadPoolExecutor() as pool:
            done = pool.submit(run_command, ["sleep", f"{mark}{index:02}"], timeout=0.05, grace=0)
            pool.submit(end_supervisors, index / 20_000).result()
            with contextlib.suppress(RuntimeError):
                assert done.result(AT_ONCE_S).timed_out
        left |= left_of(f"{mark}{index:02}", 0)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


#: Commands that stop their supervisor, once or for ever.
STOPS = {
    "once": "kill -STOP $PPID; exec sleep MARK",
    "for ever": "(trap '' TERM; while kill -STOP $PPID; do :; done) & exec sleep MARK",
}


@pytest.mark.parametrize("how", STOPS)
def test_a_command_that_stops_its_supervisor_has_no_more_time(how: str, mark: str) -> None:
    begin = time.monotonic()
    try:
        found = "timed out" if run_command(shell(STOPS[how], mark), timeout=0.5, grace=0.1).timed_out else "ended"
    except RuntimeError as error:
        found = str(error)
    # Between two stops it may hear what it is to do.
    lost = {"the command could not be supervised: its supervisor did not respond"} if how == "for ever" else set()
    assert found in {"timed out", *lost}
    assert time.monotonic() - begin < AT_ONCE_S
    assert not left_of(mark)
    assert run_command(["true"]).exit_status == 0


def test_a_command_begins_when_its_supervisor_is_no_longer_stopped() -> None:
    """However often that happens, and whatever it is about to say."""
    assert run_command(["true"]).exit_status == 0
    over = threading.Event()

    def stop() -> None:
        while not over.is_set():
            for pid in supervisors():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)

    with ThreadPoolExecutor(2) as pool:
        stopper = pool.submit(stop)
        done = pool.submit(run_command, ["true"])
        time.sleep(0.6)
        over.set()
        stopper.result()
        assert done.result(AT_ONCE_S).exit_status == 0


def test_a_supervisor_that_was_stopped_ends_with_us(mark: str) -> None:
    script = "trap '' TERM HUP; kill -STOP $PPID; echo stopped; while :; do sleep MARK; done".replace("MARK", mark)
    code = "Process(['sh', '-c', sys.argv[1]]).read_lines(60); print('stopped', flush=True); time.sleep(60)"
    with started(code, script, mark=mark) as process:
        assert process.stdout.readline() == b"stopped\n"
        process.kill()
        process.wait()
        assert not left_of(mark)


@pytest.mark.parametrize("who", ["us", "the supervisor"])
def test_nothing_of_a_command_that_runs_commands_outlives(who: str, mark: str) -> None:
    """With a command beside it that goes on, so that nothing is ended because all is."""
    inner = textwrap.dedent(PRELUDE) + "run_command(['sh', '-c', sys.argv[1]])"
    code = """
    threading.Thread(target=run_command, args=[["sleep", "60"]], daemon=True).start()
    try:
        run_command([sys.executable, "-c", *sys.argv[1:]])
    except RuntimeError:
        time.sleep(60)
    """
    script = HUNDRED.replace("MARK", mark) + "\ntrap '' TERM; while :; do sleep 0.02; done"
    with started(code, inner, script) as process:
        # Besides the hundred: we, the other interpreter and the shell, by their arguments.
        wait_for(mark, 103)
        if who == "us":
            process.kill()
            process.wait()
            assert not left_of(mark)
        else:
            kill_supervisor_of(mark, process.pid)
            deadline = time.monotonic() + AT_ONCE_S
            while len(marked(mark)) > 1 and time.monotonic() < deadline:
                time.sleep(0.02)
            assert [*marked(mark)] == [process.pid]
