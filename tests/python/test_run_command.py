"""Commands under supervision: what they are given, what comes back, and that nothing of them stays behind."""

from __future__ import annotations

import contextlib
import errno
import os
import pty
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fastrnns_rs._core import Process, run_command

#: What is promised to be gone is gone so much later.
PROMISED_S = 2.0
TAIL = 64 * 1024
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its user and its groups")

#: Processes of every way to get away, as lines of a shell script; MARK is an argument of each.
WAYS_OUT = {
    "plain": "sleep MARK &",
    "double fork": "(sleep MARK &)",
    "session": "setsid sleep MARK &",
    "session, double fork": "(setsid sleep MARK &)",
    "no variables": "env -i sleep MARK &",
    "no variables, double fork": "(env -i sleep MARK &)",
    "deaf": "(trap '' TERM HUP INT; exec sleep MARK) &",
    "deaf, session, double fork": "(trap '' TERM HUP INT; setsid sleep MARK &)",
    "session, no variables, double fork": "(setsid env -i sleep MARK &)",
    "deaf, session, no variables, double fork": "(trap '' TERM HUP INT; setsid env -i sleep MARK &)",
}
HUNDRED = "\n".join(list(WAYS_OUT.values()) * 10)


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process sleeps for; what a failing test leaves is ended."""
    text = f"{random.randrange(10**5, 10**6)}.{random.randrange(10**11, 10**12)}"
    yield text
    for pid in marked(text):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """Processes with a text among their arguments or variables. A zombie has neither."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def left_of(mark: str, within: float = PROMISED_S) -> list[int]:
    """What is still there when the time is over; returns as soon as there is nothing."""
    deadline = time.monotonic() + within
    while (found := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def wait_for(mark: str, count: int) -> None:
    deadline = time.monotonic() + 20
    while len(found := marked(mark)) < count:
        assert time.monotonic() < deadline, found
        time.sleep(0.01)
    # A shell that is about to become the last one counts too.
    time.sleep(0.1)


def children(parent: int | None = None, state: str | None = None) -> list[int]:
    """Children of a process, this one unless told: all that are no zombies, or those in a state."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            wanted = fields[0] == state if state else fields[0] != "Z"
            if wanted and int(fields[1]) == (parent or os.getpid()):
                found.append(int(entry.name))
    return found


def keepers(parent: int | None = None) -> list[int]:
    return [pid for pid in children(parent) if b"keeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def kill_keeper_of(mark: str, parent: int | None = None) -> None:
    (keeper,) = (pid for pid in keepers(parent) if set(children(pid)) & set(marked(mark)))
    os.kill(keeper, signal.SIGKILL)


def shell(script: str, mark: str = "") -> list[str]:
    return ["sh", "-c", script.replace("MARK", mark)]


PRELUDE = """
import os, resource, signal, sys, threading, time
from fastrnns_rs._core import Process, run_command
def shell(script):
    return run_command(["sh", "-c", script]).stdout_tail.strip()
"""


def interpreter(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", PRELUDE + textwrap.dedent(code), *arguments]


def alone(code: str, *arguments: str) -> list[str]:
    """Runs Python in a process of its own; returns the lines that it printed."""
    done = subprocess.run(interpreter(code, *arguments), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def listening() -> None:
    """Signals as a terminal leaves them, whoever runs the tests."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def started(code: str, *arguments: str, mark: str = "", stdin: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own, leading a session, that goes on; all that comes of it has the mark among its variables."""
    with subprocess.Popen(
        interpreter(code, *arguments),
        stdin=stdin,
        stdout=subprocess.PIPE,
        env={**os.environ, "TEST_MARK": mark},
        preexec_fn=listening,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


# What it is given, and what comes back.


@pytest.mark.parametrize("status", [0, 1, 127, 255])
def test_an_exit_status(status: int) -> None:
    done = run_command(shell(f"exit {status}"))
    assert (done.exit_status, done.signal, done.timed_out) == (status, None, False)
    assert repr(done).startswith(f"<Completed: exit_status={status}, ")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGRTMIN + 3])
def test_a_signal(number: int) -> None:
    done = run_command(shell(f"kill -{int(number)} $$"))
    assert (done.exit_status, done.signal, done.timed_out) == (None, number, False)


def test_both_streams_are_kept_apart_and_the_time_is_its_own() -> None:
    done = run_command(shell("printf out; printf err >&2; sleep 0.2"))
    assert (done.stdout_tail, done.stderr_tail) == ("out", "err")
    assert 0.2e9 <= done.duration_ns < 1e9


def test_no_shell_sees_the_arguments() -> None:
    odd = [
        "; exit 3",
        "$HOME",
        "`id`",
        "$(id)",
        "a b",
        "a\nb",
        "\t",
        "*",
        "'",
        '"',
        "\\",
        "",
        "-n",
        "é",
        "\udcff\udc80x",
    ]
    code = "import os, sys; print([os.fsencode(argument) for argument in sys.argv[1:]])"
    done = run_command([sys.executable, "-c", code, *odd])
    assert done.stdout_tail == f"{[os.fsencode(argument) for argument in odd]}\n"


def test_variables_are_those_that_are_given() -> None:
    odd = {"PATH": os.environ["PATH"], "EMPTY": "", "TWO": "a\nb=c", "\udcff": "\udc80 é"}
    code = "import os; print({k: v for k, v in os.environb.items() if k != b'LC_CTYPE'})"
    found = run_command([sys.executable, "-c", code], env=odd).stdout_tail
    mark = next(value for name, value in eval(found).items() if name == b"FASTRNNS_COMMAND")
    assert eval(found) == {os.fsencode(k): os.fsencode(v) for k, v in odd.items()} | {b"FASTRNNS_COMMAND": mark}


def test_variables_are_ours_as_they_are_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("one", "\udcff"):
        monkeypatch.setenv("OURS", value)
        code = "import os; print(os.environb[b'OURS'])"
        assert run_command([sys.executable, "-c", code]).stdout_tail == f"{os.fsencode(value)}\n"


def test_without_a_path_programs_are_looked_for_where_the_system_has_them() -> None:
    assert run_command(["env"], env={}).stdout_tail.startswith("FASTRNNS_COMMAND=")


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "one" / "\udcff two"
    inner.mkdir(parents=True)
    (inner / "program").write_text("#!/bin/sh\npwd\n")
    (inner / "program").chmod(0o755)
    code = "import os; print(os.getcwdb())"
    assert run_command([sys.executable, "-c", code], cwd=inner).stdout_tail == f"{os.fsencode(inner)}\n"
    # The keeper that has been started stands elsewhere.
    for folder in (tmp_path, tmp_path / "one"):
        monkeypatch.chdir(folder)
        assert run_command(["pwd"]).stdout_tail == f"{folder}\n"
    assert run_command([sys.executable, "-c", code], cwd=inner.name).stdout_tail == f"{os.fsencode(inner)}\n"
    assert run_command(["./program"], cwd=inner.name).exit_status == 0
    monkeypatch.chdir(inner)
    assert run_command(["./program"]).exit_status == 0
    monkeypatch.setenv("PATH", f":{os.environ['PATH']}")
    assert run_command(["program"]).exit_status == 0


def test_a_folder_that_was_deleted(tmp_path: Path) -> None:
    code = """
    os.chdir(sys.argv[1])
    print(shell("pwd"))
    os.mkdir("gone"), os.chdir("gone"), os.rmdir(os.getcwd())
    print(shell("readlink /proc/self/cwd"))
    """
    assert alone(code, str(tmp_path)) == [str(tmp_path), f"{tmp_path}/gone (deleted)"]


@pytest.mark.parametrize(
    ("argv", "options", "error", "name"),
    [
        (["no-such-program"], {}, FileNotFoundError, "no-such-program"),
        (["/no/such/program"], {}, FileNotFoundError, "/no/such/program"),
        ([""], {}, FileNotFoundError, ""),
        (["/etc/passwd"], {}, PermissionError, "/etc/passwd"),
        (["/tmp"], {}, PermissionError, "/tmp"),
        (["/etc/passwd/x"], {}, NotADirectoryError, "/etc/passwd/x"),
        (["true"], {"cwd": "/no/such/folder"}, FileNotFoundError, "/no/such/folder"),
        (["true"], {"cwd": "/etc/passwd"}, NotADirectoryError, "/etc/passwd"),
    ],
)
def test_what_the_system_refuses(argv: list[str], options: dict, error: type[OSError], name: str) -> None:
    with pytest.raises(error) as caught:
        run_command(argv, **options)
    assert (caught.type, caught.value.filename) == (error, name)
    assert caught.value.strerror == os.strerror(caught.value.errno)
    assert run_command(["true"]).exit_status == 0


@pytest.mark.parametrize(
    ("argv", "options", "words"),
    [
        ([], {}, "no arguments"),
        (["true", "a\0b"], {}, "NUL"),
        (["true"], {"env": {"A": "\0"}}, "NUL"),
        (["true"], {"env": {"A\0": ""}}, "NUL"),
        (["true"], {"cwd": "/\0"}, "NUL"),
        (["true"], {"env": {"A=B": ""}}, "A=B"),
        (["true"], {"env": {"": "x"}}, "name"),
        (["true"], {"timeout": -0.1}, "timeout"),
        (["true"], {"timeout": float("nan")}, "timeout"),
        (["true"], {"grace": -1}, "grace"),
        (["true"], {"grace": float("nan")}, "grace"),
    ],
)
def test_what_makes_no_sense(argv: list[str], options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        run_command(argv, **options)


def test_a_string_is_no_list_of_arguments() -> None:
    with pytest.raises(TypeError):
        run_command("true")  # type: ignore[arg-type]


def test_many_arguments_and_many_variables() -> None:
    arguments = [str(index) for index in range(3000)]
    variables = {f"V{index}": "x" * 100_000 for index in range(15)}
    done = run_command(["sh", "-c", 'echo $# "${#V0}" "${#V14}"', "sh", *arguments], env={**os.environ, **variables})
    assert done.stdout_tail == "3000 100000 100000\n"


@pytest.mark.parametrize("argv", [["true", "x" * 200_000], ["true", *["x" * 100_000] * 30]])
def test_more_than_the_system_takes(argv: list[str]) -> None:
    with pytest.raises(OSError, match=f"Errno {errno.E2BIG}"):
        run_command(argv)


# Output and input.


def test_the_end_of_long_output_is_kept() -> None:
    done = run_command(shell("seq 1 1000000; seq 1 500000 >&2"))
    for tail, last in ((done.stdout_tail, 1_000_000), (done.stderr_tail, 500_000)):
        assert len(tail) == TAIL
        assert tail.endswith(f"\n{last - 1}\n{last}\n")


def test_a_flood_takes_no_memory() -> None:
    code = """
    def peak():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
    run_command(["true"])
    before = peak()
    done = run_command(["head", "-c", "100000000", "/dev/zero"])
    assert run_command(["sh", "-c", "head -c 100000000 /dev/zero >&2"]).stderr_tail == done.stdout_tail
    print(len(done.stdout_tail), peak() - before)
    """
    ((length, kibibytes),) = (line.split() for line in alone(code))
    assert int(length) == TAIL
    assert int(kibibytes) < 4096


def test_output_of_any_bytes() -> None:
    assert run_command(shell(r"printf 'a\377\0b\303'")).stdout_tail == "a\ufffd\0b\ufffd"
    assert run_command(shell("printf 'no newline'")).stdout_tail == "no newline"
    # The tail may begin within a letter.
    tail = run_command([sys.executable, "-c", "print('€' * 100_000)"]).stdout_tail
    assert tail.lstrip("\ufffd") == "€" * 21845 + "\n"
    assert len(tail) - 21846 <= 2


def test_a_command_that_closes_its_streams_is_waited_for_in_peace() -> None:
    before = time.process_time()
    done = run_command(shell("printf early; exec <&- >&- 2>&-; sleep 0.5; exit 7"))
    assert (done.exit_status, done.stdout_tail) == (7, "early")
    assert time.process_time() - before < 0.1


def test_its_input_is_empty() -> None:
    assert run_command(["cat"], timeout=20).exit_status == 0
    assert run_command(["readlink", "/proc/self/fd/0"]).stdout_tail == "/dev/null\n"


def test_our_terminal_is_not_touched() -> None:
    ours, theirs = pty.openpty()
    code = """
    # Whoever leads a session and opens a terminal has it as the controlling one.
    os.close(os.open(os.ttyname(0), os.O_RDWR))
    done = run_command(["sh", "-c", "cat; cat </dev/tty"])
    print(repr(done.stdout_tail), done.exit_status != 0, sys.stdin.readline())
    """
    os.write(ours, b"for us\n")
    try:
        with started(code, stdin=theirs) as process:
            assert process.stdout.read().split() == [b"''", b"True", b"for", b"us"]
    finally:
        os.close(theirs)
        os.close(ours)


def test_it_runs_in_a_session_without_our_terminal_and_in_a_group_of_its_own() -> None:
    code = "import os; print(os.getpid() == os.getpgid(0), os.getsid(0))"
    ours, session = run_command([sys.executable, "-c", code]).stdout_tail.split()
    assert ours == "True"
    assert int(session) != os.getsid(0)


def test_signals_are_as_a_shell_leaves_them() -> None:
    """Python ignores two of them, and so does the keeper, which is Python."""
    line = run_command(["grep", "SigIgn", "/proc/self/status"]).stdout_tail
    ignored = int(line.split()[1], 16)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        assert not ignored >> (number - 1) & 1, number
    assert run_command(shell("yes | head -n 1")).stderr_tail == ""


# Its time.


def test_a_time_out_is_a_result() -> None:
    begin = time.monotonic()
    done = run_command(shell("printf said; printf so >&2; sleep 60"), timeout=0.4)
    assert time.monotonic() - begin < 1.0
    assert (done.timed_out, done.exit_status, done.signal) == (True, None, signal.SIGTERM)
    assert (done.stdout_tail, done.stderr_tail) == ("said", "so")
    assert 0.4e9 <= done.duration_ns < 1e9
    assert "timed out" in repr(done)


def test_it_may_use_its_grace() -> None:
    done = run_command(shell("trap 'sleep 0.3; echo bye; exit 3' TERM; echo hi; sleep 60 & wait"), timeout=0.3)
    assert (done.timed_out, done.exit_status, done.stdout_tail) == (True, 3, "hi\nbye\n")


@pytest.mark.parametrize("grace", [0, 0.4])
def test_a_command_that_ignores_being_asked_is_killed(grace: float, mark: str) -> None:
    begin = time.monotonic()
    done = run_command(shell("trap '' TERM INT HUP; sleep MARK", mark), timeout=0.3, grace=grace)
    assert time.monotonic() - begin < 0.3 + grace + 0.5
    assert (done.timed_out, done.signal) == (True, signal.SIGKILL)
    assert not marked(mark)


def test_a_command_that_has_stopped_itself_is_ended(mark: str) -> None:
    done = run_command(shell("sleep MARK & kill -STOP $!; kill -STOP $$; true MARK", mark), timeout=0.3, grace=0.2)
    assert done.timed_out
    assert not marked(mark)


@pytest.mark.parametrize("seconds", [1e9, 1e300, float("inf")])
def test_a_time_beyond_all_clocks_is_none(seconds: float) -> None:
    assert run_command(["true"], timeout=seconds, grace=seconds).exit_status == 0


def test_no_time_at_all() -> None:
    assert run_command(["sleep", "60"], timeout=0).timed_out


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
    assert time.monotonic() - begin < 1.0
    assert not marked(mark)


def test_what_it_leaves_may_say_its_last_words() -> None:
    done = run_command(shell("(trap 'echo last; exit' TERM; sleep 60 & wait) & sleep 0.1; echo first"))
    assert done.stdout_tail == "first\nlast\n"


def test_a_family_that_forks_all_the_time_is_ended(mark: str) -> None:
    script = "f() { (trap '' TERM; sleep 0.01; f MARK) & }; f; f; f; sleep 0.3; exit 0"
    assert run_command(shell(script, mark)).exit_status == 0
    assert not marked(mark)


# Who ends us.


@pytest.mark.parametrize("script", ["sleep MARK", "yes MARK", "trap '' TERM INT; sleep MARK & wait; sleep MARK"])
def test_ctrl_c_ends_it_within_a_second(script: str, mark: str) -> None:
    code = """
    print("ready", flush=True)
    try:
        run_command(["sh", "-c", sys.argv[1]], grace=0.5)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic())
    """
    with started(code, script.replace("MARK", mark), mark=mark) as process:
        assert process.stdout.readline() == b"ready\n"
        # We, the keeper, and the command.
        wait_for(mark, 3 + script.count("&"))
        time.sleep(0.1)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, when = process.stdout.readline().split()
        assert said == b"interrupted"
        assert float(when) - asked < 1.0
        assert process.wait(5) == 0
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
        assert process.wait(5) == -number
        assert not left_of(mark)


def test_nothing_outlives_what_we_become(mark: str) -> None:
    code = """
    threading.Thread(target=run_command, args=[["sh", "-c", sys.argv[1]]], daemon=True).start()
    time.sleep(0.5)
    os.execvp("sleep", ["sleep", "60"])
    """
    with started(code, f"sleep {mark} & sleep {mark}", mark="") as process:
        wait_for(mark, 3)
        deadline = time.monotonic() + 10
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
def test_the_end_of_the_keeper_is_the_end_of_the_command(script: str, mark: str) -> None:
    with ThreadPoolExecutor() as pool:
        done = pool.submit(run_command, shell(script, mark))
        wait_for(mark, 1 + script.count("MARK"))
        kill_keeper_of(mark)
        with pytest.raises(RuntimeError, match="^the command could not be supervised: [^\n]*keeper[^\n]*$"):
            done.result(5)
    assert not left_of(mark)
    assert run_command(["true"]).exit_status == 0


@pytest.mark.parametrize("who", ["us", "the keeper"])
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
            kill_keeper_of(mark, process.pid)
            deadline = time.monotonic() + PROMISED_S
            while len(marked(mark)) > 1 and time.monotonic() < deadline:
                time.sleep(0.02)
            assert marked(mark) == [process.pid]


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
    """Everything that comes of us, the keeper included, has a mark among its variables or its arguments."""
    script = "\n".join(WAYS_OUT.values()) + "\ntrap '' TERM; sleep 0.1"

    def live(until: float | None, mark: str) -> tuple[float, bytes, list[int]]:
        with started(STAGES, script.replace("MARK", mark), mark=mark) as process:
            begin = time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(until)
            if end == "killed":
                process.kill()
            elif process.poll() is None:
                # A terminal sends it to the whole group, and a keeper that has just been started is still in it.
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


# Several at once, and processes that are forked.


def test_commands_of_several_threads_do_not_mix() -> None:
    def one(index: int) -> None:
        for _ in range(5):
            done = run_command(shell(f"echo {index}; echo e{index} >&2; sleep 0.0{index}; exit {index}"))
            assert (done.exit_status, done.stdout_tail, done.stderr_tail) == (index, f"{index}\n", f"e{index}\n")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(8)))


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_one_leaves_is_not_taken_for_what_another_needs(way: str, mark: str) -> None:
    other = f"9{mark}"
    with ThreadPoolExecutor() as pool:
        script = f"{WAYS_OUT[way]}\nsleep 0.5; pgrep -f '^sleep MARK'"
        goes_on = pool.submit(run_command, shell(script, other))
        wait_for(other, 1)
        assert run_command(shell(f"{WAYS_OUT[way]}\nsleep 0.1", mark)).exit_status == 0
        # Although the other still runs.
        assert not marked(f"sleep\0{mark}")
        assert not goes_on.done()
        assert goes_on.result().exit_status == 0
    assert not marked(other)


def test_others_run_while_a_command_does() -> None:
    counted = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    begin, before = time.monotonic(), counted
    run_command(["sleep", "0.3"])
    during, whole = counted - before, time.monotonic() - begin
    time.sleep(whole)
    after = counted - before - during
    ended.set()
    counter.join()
    assert during > after / 4


def test_from_a_thread_while_the_main_one_waits() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(run_command, ["true"]).result().exit_status == 0
        assert pool.submit(run_command, ["sleep", "60"], timeout=0.1).result().timed_out


def test_a_forked_process_has_commands_of_its_own() -> None:
    code = """
    shell("true")
    running = Process(["sh", "-c", "read line; echo heard"])
    if pid := os.fork():
        print(shell("echo parent; sleep 0.2"))
        os.waitpid(pid, 0)
        # The other one's end was not that of our commands.
        assert not running.ended
        running.write(b"\\n")
        print(running.read_lines(10).decode().strip(), shell("echo parent"))
    else:
        print(shell("sleep 0.1; echo child"), shell("echo child"))
    """
    assert alone(code) == ["child child", "parent", "heard parent"]


def test_a_process_may_be_forked_at_any_time() -> None:
    code = """
    def work():
        while not ended:
            # Another mask needs another keeper, so that one is being started nearly always.
            os.umask(os.umask(0) ^ 1)
            run_command(["true"])
    ended = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        if pid := os.fork():
            for _ in range(500):
                if os.waitpid(pid, os.WNOHANG) != (0, 0):
                    break
                time.sleep(0.01)
            else:
                print("hangs")
                os.kill(pid, 9)
                os.waitpid(pid, 0)
        else:
            os._exit(run_command(["true"]).exit_status)
    ended.append(True)
    for thread in threads:
        thread.join()
    """
    assert alone(code) == []


# What it inherits.


def test_it_inherits_what_we_are_now() -> None:
    code = """
    def twice(script):
        return f"{shell(script)} {shell(script)}"
    print(twice("umask"))
    os.umask(0o027)
    print(twice("umask"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (123, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    print(twice("ulimit -c; ulimit -n").split())
    os.nice(3)
    print(twice("nice"))
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(twice("nproc"))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    print(twice("kill -HUP $$; echo deaf"))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    print(run_command(["sh", "-c", "kill -HUP $$"]).signal)
    """
    os.umask(umask := os.umask(0))
    expected = ["0027 0027", "['0', '123', '0', '123']", "3 3", "1 1", "deaf deaf", "1"]
    assert alone(code) == [f"{umask:04o} {umask:04o}", *expected]


def test_a_mask_that_another_thread_sets_is_not_lost() -> None:
    code = """
    def work():
        while not ended:
            run_command(["true"])
    ended = []
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    for mask in range(20_000):
        os.umask(mask % 64)
        assert os.umask(mask % 64) == mask % 64
    ended.append(True)
    thread.join()
    """
    assert alone(code) == []


@ROOT_ONLY
def test_privileges_that_we_drop_are_not_its() -> None:
    code = """
    print(shell("id -u; id -g").split())
    os.setgroups([4321]), os.setgid(1234)
    print(shell("id -g; id -G").split())
    os.setuid(1234)
    try:
        print(shell("id -u"))
    except RuntimeError:
        # That user may not read this interpreter.
        print(1234)
    """
    assert alone(code) == ["['0', '0']", "['1234', '1234', '4321']", "1234"]


def test_with_children_that_nobody_waits_for() -> None:
    """An ignored SIGCHLD is handed on, and the kernel then tells nobody how a child ended."""
    code = """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print(run_command(["sh", "-c", "sleep 0.1; exit 3"], timeout=5).exit_status)
    """
    assert alone(code) == ["3"]


# What it costs us.


def test_a_keeper_without_work_leaves() -> None:
    run_command(["true"])
    assert keepers()
    deadline = time.monotonic() + PROMISED_S
    while children() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not children()
    assert run_command(["true"]).exit_status == 0
    assert len(keepers()) == 1


def test_a_command_that_comes_as_the_keeper_leaves() -> None:
    def twice(pause: float) -> int | None:
        run_command(["true"])
        time.sleep(pause)
        return run_command(["true"]).exit_status

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(twice, [0.95 + index / 160 for index in range(16)])) == {0}


def test_nothing_piles_up() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    run_command(["true"])
    before = descriptors()
    for index in range(100):
        run_command(["true"])
        with pytest.raises(FileNotFoundError):
            run_command([f"no-such-program-{index}"])
        with pytest.raises(PermissionError):
            run_command(["/tmp"])
        Process(["cat"]).end()
    assert descriptors() == before
    assert children(state="Z") == []


def test_keepers_do_not_pile_up() -> None:
    umask = os.umask(0)
    try:
        for index in range(20):
            os.umask(index)
            run_command(["true"])
    finally:
        os.umask(umask)
    deadline = time.monotonic() + PROMISED_S
    while children() and time.monotonic() < deadline:
        time.sleep(0.02)
    run_command(["true"])
    assert len(children()) == 1
    assert children(state="Z") == []


def test_without_standard_streams(tmp_path: Path) -> None:
    code = """
    done = [run_command(["sh", "-c", "cat; echo out; echo err >&2; exit 3"]) for _ in range(2)]
    with open(sys.argv[1], "w") as file:
        for one in done:
            print(one.exit_status, one.stdout_tail.strip(), one.stderr_tail.strip(), file=file)
    """
    output = tmp_path / "output"
    quoted = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *interpreter(code, str(output))]
    assert subprocess.run(quoted, timeout=60, check=False).returncode == 0
    assert output.read_text() == "3 out err\n" * 2


def test_a_lack_of_descriptors_is_an_error_of_one_line() -> None:
    code = """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for limit in range(3, 40):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        begin = time.monotonic()
        try:
            run_command(["true"], timeout=20)
        except (OSError, RuntimeError) as error:
            print(limit, "refused", str(error).count("\\n"), time.monotonic() - begin < 5)
        else:
            print(limit, "ran", 0, time.monotonic() - begin < 5)
    """
    found = [line.split() for line in alone(code)]
    assert len(found) == 37
    assert {tuple(row[2:]) for row in found} == {("0", "True")}
    assert (found[0][1], found[-1][1]) == ("refused", "ran")


# A command that one talks to.


def test_a_conversation() -> None:
    process = Process(shell("while read line; do echo got $line; done; exec sleep 60"))
    process.write(b"one\n")
    assert process.read_lines(20) == b"got one\n"
    begin = time.monotonic()
    assert process.read_lines(0.1) == b""
    assert 0.1 <= time.monotonic() - begin < 1
    process.write(b"two\nthree\n")
    said = b""
    while said.count(b"\n") < 2:
        said += process.read_lines(20)
    assert said == b"got two\ngot three\n"
    assert not process.ended
    done = process.end(grace=20)
    assert process.ended
    assert (done.exit_status, done.signal) == (None, signal.SIGTERM)


def test_the_rest_without_a_newline_comes_at_the_end() -> None:
    process = Process(shell("printf 'a\nrest'; exit 4"))
    said = b""
    while not process.ended:
        said += process.read_lines(20)
    assert said == b"a\nrest"
    process.write(b"nobody hears it")
    assert (process.end().exit_status, process.end().exit_status) == (4, 4)
    assert process.read_lines(20) == b""


def test_one_that_nobody_holds_is_ended(mark: str) -> None:
    process = Process(shell(HUNDRED + "\nwait", mark))
    wait_for(mark, 101)
    del process
    assert not left_of(mark)
