"""When commands under supervision end, and that nothing of them stays behind or outlives us."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import AT_ONCE_S, left_of, marked, wait_for
from profile_commands import can_mount
from supervised import HUNDRED, WAYS_OUT, alone, shell, started

from fastrnns_rs._core import run_command

#: Each holds how soon something has ended.
pytestmark = pytest.mark.alone

# Its time.


def test_a_time_out_is_a_result() -> None:
    begin = time.monotonic()
    done = run_command(shell("printf said; printf so >&2; sleep 60"), timeout=1)
    assert time.monotonic() - begin < AT_ONCE_S
    assert (done.timed_out, done.exit_status, done.signal) == (True, None, signal.SIGTERM)
    assert (done.stdout_tail, done.stderr_tail) == ("said", "so")
    assert 1e9 <= done.duration_ns < AT_ONCE_S * 1e9
    assert "timed out" in repr(done)
    # It may use its grace.
    done = run_command(shell("trap 'sleep 0.3; echo bye; exit 3' TERM; echo hi; sleep 60 & wait"), timeout=1)
    assert (done.timed_out, done.exit_status, done.stdout_tail) == (True, 3, "hi\nbye\n")


@pytest.mark.parametrize("grace", [0, 0.4])
def test_a_command_that_ignores_being_asked_is_killed(grace: float, mark: str) -> None:
    begin = time.monotonic()
    # A shell that waits may see its child killed, and exit, before it is killed itself.
    done = run_command(shell("trap '' TERM INT HUP; exec sleep MARK", mark), timeout=1, grace=grace)
    assert time.monotonic() - begin < AT_ONCE_S
    assert (done.timed_out, done.signal) == (True, signal.SIGKILL)
    assert not marked(mark)
    # One that has stopped itself.
    done = run_command(shell("sleep MARK & kill -STOP $!; kill -STOP $$; true MARK", mark), timeout=1, grace=0.2)
    assert (done.timed_out, marked(mark)) == (True, {})


@pytest.mark.parametrize("seconds", [1e9, 1e300, float("inf")])
def test_a_time_beyond_all_clocks_is_none(seconds: float) -> None:
    assert run_command(["true"], timeout=seconds, grace=seconds).exit_status == 0
    assert run_command(["sleep", "60"], timeout=0).timed_out


@pytest.mark.parametrize("grace", [1e19, 1e308, float("inf")])
def test_a_grace_beyond_all_clocks_is_without_end(grace: float) -> None:
    done = run_command(["sleep", "60"], timeout=0.2, grace=grace)
    assert (done.timed_out, done.signal) == (True, signal.SIGTERM)


# What it leaves behind.


@pytest.mark.parametrize("end", ["it exits", "time-out", "deaf to a time-out"])
def test_a_hundred_descendants_of_every_kind_end_with_it(end: str, mark: str, tmp_path: Path) -> None:
    """Each waits until all are there, so that none is ended before it got away."""
    last = {
        "it exits": "while [ ! -e go ]; do sleep 0.02; done; exit 5",
        "time-out": "while :; do sleep 0.02; done",
        "deaf to a time-out": "trap '' TERM; while :; do sleep 0.02; done",
    }[end]
    with ThreadPoolExecutor() as pool:
        timeout = 60 if end == "it exits" else 3
        done = pool.submit(run_command, shell(f"{HUNDRED}\n{last}", mark), cwd=tmp_path, timeout=timeout, grace=0.3)
        # The shell itself is one, by its script.
        wait_for(mark, 101)
        (tmp_path / "go").touch()
        completed = done.result()
    assert completed.timed_out == (end != "it exits")
    assert completed.exit_status == (5 if end == "it exits" else None)
    assert not marked(mark)


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_it_leaves_in_the_background_is_ended(way: str, mark: str) -> None:
    begin = time.monotonic()
    done = run_command(shell(f"{WAYS_OUT[way]}\necho left; sleep 0.05", mark), timeout=20)
    assert (done.exit_status, done.stdout_tail) == (0, "left\n")
    assert time.monotonic() - begin < AT_ONCE_S
    assert not marked(mark)


def test_what_it_leaves_may_say_its_last_words(tmp_path: Path) -> None:
    leaves = "(trap 'echo last; exit' TERM; touch ready; sleep 60 & wait) &"
    done = run_command(shell(f"{leaves} until [ -e ready ]; do sleep 0.02; done; echo first"), cwd=tmp_path)
    assert done.stdout_tail == "first\nlast\n"


def test_a_family_that_forks_all_the_time_is_ended(mark: str) -> None:
    script = "f() { (trap '' TERM; sleep 0.01; f MARK) & }; f; f; f; sleep 0.3; exit 0"
    assert run_command(shell(script, mark)).exit_status == 0
    assert not marked(mark)


def test_deeply_nested_processes_are_ended(mark: str) -> None:
    """The stack is small, so that few processes are as deep for it as tens of thousands are for the usual one."""
    code = """
    resource.setrlimit(resource.RLIMIT_STACK, (128 << 10, 128 << 10))
    nested = "trap '' TERM; [ $1 = 0 ] || sh -c \\"$0\\" \\"$0\\" $(($1 - 1)) $2; sleep $2"
    # The limit of the stack holds for programs that start later.
    command = "import sys; from fastrnns_rs._core import run_command"
    command += "; print(run_command(sys.argv[1:], timeout=5, grace=0.2).timed_out)"
    os.execv(sys.executable, [sys.executable, "-c", command, "sh", "-c", nested, nested, "300", sys.argv[1]])
    """
    assert alone(code, mark) == ["True"]
    assert not marked(mark)


# Who ends us.


@pytest.mark.parametrize("timeout", [0.5, None])
def test_ctrl_c_ends_a_grace_without_end(timeout: float | None, mark: str) -> None:
    code = """
    print("ready", flush=True)
    try:
        deaf = ["sh", "-c", "trap '' TERM; exec sleep " + sys.argv[1]]
        run_command(deaf, timeout=eval(sys.argv[2]), grace=float("inf"))
    except KeyboardInterrupt:
        print("interrupted")
    """
    with started(code, mark, str(timeout), mark=mark) as process:
        assert process.stdout.readline() == b"ready\n"
        wait_for(mark, 3)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"interrupted\n"


@pytest.mark.parametrize("script", ["sleep MARK", "yes MARK", "trap '' TERM INT; sleep MARK & wait; sleep MARK"])
def test_ctrl_c_ends_it_at_once(script: str, mark: str) -> None:
    code = """
    print("ready", flush=True)
    try:
        run_command(["sh", "-c", sys.argv[1]], grace=0.5)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic())
    """
    with started(code, script.replace("MARK", mark), mark=mark) as process:
        assert process.stdout.readline() == b"ready\n"
        # We, the supervisor, and the command.
        wait_for(mark, 3 + script.count("&"))
        time.sleep(0.1)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, when = process.stdout.readline().split()
        assert said == b"interrupted"
        assert float(when) - asked < AT_ONCE_S
        assert process.wait(AT_ONCE_S) == 0
    assert not left_of(mark)


def test_another_handler_may_end_it_too() -> None:
    code = """
    def alarm(number, frame):
        raise TimeoutError("the handler's own")
    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        run_command(["sleep", "60"])
    except TimeoutError as error:
        print(error)
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    print(shell("sleep 0.3; echo done"))
    signal.setitimer(signal.ITIMER_REAL, 0)
    """
    assert alone(code) == ["the handler's own", "done"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGQUIT])
def test_nothing_outlives_us(number: signal.Signals, mark: str) -> None:
    script = f"{HUNDRED}\ntrap '' TERM HUP INT QUIT; while :; do sleep 0.02; done".replace("MARK", mark)
    code = "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); run_command(['sh', '-c', sys.argv[1]])"
    with started(code, script, mark=mark) as process:
        wait_for(mark, 103)
        process.send_signal(number)
        assert process.wait(AT_ONCE_S) == -number
        assert not left_of(mark)


def test_nothing_outlives_what_we_become(mark: str) -> None:
    code = """
    threading.Thread(target=run_command, args=[["sh", "-c", sys.argv[1]]], daemon=True).start()
    sys.stdin.readline()
    os.execvp("sleep", ["sleep", "60"])
    """
    with started(code, f"sleep {mark} & sleep {mark}", mark="", stdin=subprocess.PIPE) as process:
        wait_for(mark, 3)
        process.stdin.write(b"\n")
        process.stdin.flush()
        deadline = time.monotonic() + AT_ONCE_S
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not left_of(mark)
        assert process.poll() is None


def test_a_daemon_thread_does_not_hold_us(mark: str) -> None:
    code = """
    threading.Thread(target=run_command, args=[["sleep", sys.argv[1]]], daemon=True).start()
    class Slow:
        def __del__(self, sleep=time.sleep):
            sleep(0.5)
    sys.slow = Slow()
    time.sleep(0.3)
    """
    assert alone(code, mark) == []
    assert not left_of(mark)


#: How far a process that runs a command has come, told by what it printed before it was killed.
STAGES = """
print("imported", flush=True)
Process(["true"]).end()
print("kept", flush=True)
run_command(["sh", "-c", sys.argv[1]])
print("ended", flush=True)
time.sleep(0.1)
"""


@pytest.mark.parametrize(("end", "points"), [("killed", 50), ("Ctrl-C", 20)])
def test_nothing_outlives_us_whenever_we_are_ended(end: str, points: int, mark: str) -> None:
    """Everything that comes of us, the supervisor included, has a mark among its variables or its arguments."""
    script = "\n".join(WAYS_OUT.values()) + "\ntrap '' TERM; sleep 0.1"

    def live(until: float | None, mark: str) -> tuple[float, bytes, list[int]]:
        with started(STAGES, script.replace("MARK", mark), mark=mark) as process:
            begin = time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(until)
            if end == "killed":
                process.kill()
            elif process.poll() is None:
                # A terminal sends it to the whole group, and a supervisor that has just been started is still in it.
                os.killpg(process.pid, signal.SIGINT)
            process.wait()
            ended = time.monotonic()
            return ended - begin, process.stdout.read(), left_of(mark)

    whole = live(None, mark)[0]
    with ThreadPoolExecutor(8) as pool:
        marks = [f"{mark}{index:02}" for index in range(points)]
        found = list(pool.map(live, [1.2 * whole * index / points for index in range(points)], marks))
    assert [left for _, _, left in found if left] == []
    # Not all at one stage of their lives.
    assert len({said for _, said, _ in found}) > 1


def test_a_time_in_which_we_were_stopped_is_in_no_time_limit() -> None:
    script = f"sleep 0.5; kill -STOP {os.getpid()}; sleep 4; kill -CONT {os.getpid()}; sleep 0.3; echo said"
    done = run_command(["sh", "-c", script], timeout=3)
    assert (done.timed_out, done.stdout_tail) == (False, "said\n")


def test_processes_that_we_may_not_kill_are_left(mark: str) -> None:
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("only root can start a process of another user")
    script = f"setpriv --reuid 65534 --clear-groups yes {mark} & sleep 0.5"
    code = f"""
import time
from fastrnns_rs._core import run_command
begin = time.monotonic()
done = run_command(["sh", "-c", {script!r}], timeout=30)
print(done.exit_status, {mark!r} in done.stdout_tail, time.monotonic() - begin < 15)
print(run_command(["echo", "said"]).stdout_tail)
"""
    try:
        words = [setpriv, "--bounding-set", "-kill", "--inh-caps", "-kill", sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert (done.stdout.split(), done.stderr) == (["0", "True", "True", "said"], "")
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)


def test_without_proc_nothing_of_a_group_is_left(mark: str) -> None:
    can_mount("to take /proc away")
    code = f"import fastrnns_rs; print(fastrnns_rs.run_command(['sh', '-c', 'sleep {mark} & echo said']).stdout_tail)"
    inside = ["unshare", "--mount", "sh", "-c", 'umount --lazy /proc && exec "$@"', "sh", sys.executable, "-c", code]
    done = subprocess.run(inside, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "said"
    assert not left_of(mark)


def test_without_proc_a_session_of_its_own_is_not_waited_for(mark: str) -> None:
    can_mount("to take /proc away")
    said = "fastrnns_rs.run_command(['sh', '-c', 'setsid sleep MARK & sleep 0.3'], timeout=30)"
    code = f"import fastrnns_rs; [print({said.replace('MARK', mark)}.timed_out) for _ in range(2)]"
    inside = ["unshare", "--mount", "sh", "-c", 'umount --lazy /proc && exec "$@"', "sh", sys.executable, "-c", code]
    try:
        done = subprocess.run(inside, capture_output=True, text=True, timeout=50, check=True)
        assert done.stdout.split() == ["False", "False"]
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)
