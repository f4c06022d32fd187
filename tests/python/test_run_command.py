"""Commands under supervision: what they are given, what comes back, and how one talks to them."""

from __future__ import annotations

import errno
import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest
from processes import AT_ONCE_S, left_of, wait_for
from supervised import HUNDRED, alone, shell, started

from fastrnns_rs._core import Process, run_command

#: Some hold how long something takes.
pytestmark = pytest.mark.alone

TAIL = 64 * 1024


# What it is given, and what comes back.


@pytest.mark.parametrize(
    ("script", "status", "number"),
    [
        *((f"exit {status}", status, None) for status in (0, 1, 127, 255)),
        *((f"kill -{number} $$", None, number) for number in (9, 15, 11, int(signal.SIGRTMIN) + 3)),
    ],
)
def test_how_it_ended(script: str, status: int | None, number: int | None) -> None:
    done = run_command(shell(script))
    assert (done.exit_status, done.signal, done.timed_out) == (status, number, False)
    assert status is None or repr(done).startswith(f"<Completed: exit_status={status}, ")


def test_its_streams_and_its_time_are_its_own() -> None:
    done = run_command(shell("printf out; printf err >&2; sleep 0.2"))
    assert (done.stdout_tail, done.stderr_tail) == ("out", "err")
    assert 0.2e9 <= done.duration_ns < AT_ONCE_S * 1e9
    assert run_command(["cat"], timeout=20).exit_status == 0
    assert run_command(["readlink", "/proc/self/fd/0"]).stdout_tail == "/dev/null\n"


def test_no_shell_sees_the_arguments() -> None:
    of_shells = ["; exit 3", "$HOME", "`id`", "$(id)", "a b", "a\nb", "\t", "*", "'", '"', "\\"]
    odd = [*of_shells, "", "-n", "é", "\udcff\udc80x"]
    code = "import os, sys; print([os.fsencode(argument) for argument in sys.argv[1:]])"
    done = run_command([sys.executable, "-c", code, *odd])
    assert done.stdout_tail == f"{[os.fsencode(argument) for argument in odd]}\n"


def test_variables_are_those_that_are_given_or_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = {"PATH": os.environ["PATH"], "EMPTY": "", "TWO": "a\nb=c", "\udcff": "\udc80 é"}
    code = "import os; print({k: v for k, v in os.environb.items() if k != b'LC_CTYPE'})"
    found = eval(run_command([sys.executable, "-c", code], env=odd).stdout_tail)
    assert found.pop(b"FASTRNNS_COMMAND")
    assert found == {os.fsencode(k): os.fsencode(v) for k, v in odd.items()}
    # Without a path programs are looked for where the system has them.
    assert run_command(["env"], env={}).stdout_tail.startswith("FASTRNNS_COMMAND=")
    for value in ("one", "\udcff"):
        monkeypatch.setenv("OURS", value)
        code = "import os; print(os.environb[b'OURS'])"
        assert run_command([sys.executable, "-c", code]).stdout_tail == f"{os.fsencode(value)}\n"


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "one" / "\udcff two"
    inner.mkdir(parents=True)
    (inner / "program").write_text("#!/bin/sh\npwd\n")
    (inner / "program").chmod(0o755)
    code = "import os; print(os.getcwdb())"
    assert run_command([sys.executable, "-c", code], cwd=inner).stdout_tail == f"{os.fsencode(inner)}\n"
    # The supervisor that has been started stands elsewhere.
    for folder in (tmp_path, tmp_path / "one"):
        monkeypatch.chdir(folder)
        assert run_command(["pwd"]).stdout_tail == f"{folder}\n"
    assert run_command([sys.executable, "-c", code], cwd=inner.name).stdout_tail == f"{os.fsencode(inner)}\n"
    assert run_command(["./program"], cwd=inner.name).exit_status == 0
    monkeypatch.chdir(inner)
    assert run_command(["./program"]).exit_status == 0
    monkeypatch.setenv("PATH", f":{os.environ['PATH']}")
    assert run_command(["program"]).exit_status == 0
    # One that was deleted.
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
        *((["true"], {name: time}, name) for name in ("timeout", "grace") for time in (-0.1, float("nan"))),
    ],
)
def test_what_makes_no_sense(argv: list[str], options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        run_command(argv, **options)
    with pytest.raises(TypeError):
        run_command("true")  # type: ignore[arg-type]


def test_many_arguments_and_many_variables() -> None:
    arguments = [str(index) for index in range(3000)]
    variables = {f"V{index}": "x" * 100_000 for index in range(15)}
    done = run_command(["sh", "-c", 'echo $# "${#V0}" "${#V14}"', "sh", *arguments], env={**os.environ, **variables})
    assert done.stdout_tail == "3000 100000 100000\n"
    for more in (["x" * 200_000], ["x" * 100_000] * 30):
        with pytest.raises(OSError, match=f"Errno {errno.E2BIG}"):
            run_command(["true", *more])


# Output and input.


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
    done = run_command(shell("printf early; exec <&- >&- 2>&-; sleep 1; exit 7"))
    assert (done.exit_status, done.stdout_tail) == (7, "early")
    assert time.process_time() - before < 0.5


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
    """Python ignores two of them, and so does the supervisor, which is Python."""
    line = run_command(["grep", "SigIgn", "/proc/self/status"]).stdout_tail
    ignored = int(line.split()[1], 16)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        assert not ignored >> (number - 1) & 1, number
    assert run_command(shell("yes | head -n 1")).stderr_tail == ""


# A command that one talks to.


def test_a_conversation() -> None:
    process = Process(shell("while read line; do echo got $line; done; exec sleep 60"))
    process.write(b"one\n")
    assert process.read_lines(20) == b"got one\n"
    begin = time.monotonic()
    assert process.read_lines(0.1) == b""
    assert 0.1 <= time.monotonic() - begin < AT_ONCE_S
    process.write(b"two\nthree\n")
    said = b""
    while said.count(b"\n") < 2:
        said += process.read_lines(20)
    assert said == b"got two\ngot three\n"
    assert not process.ended
    done = process.end(grace=20)
    assert process.ended
    assert (done.exit_status, done.signal) == (None, signal.SIGTERM)


def test_a_handler_is_called_while_a_command_does_not_read() -> None:
    script = "trap go=1 USR1; echo $$; until [ $go ]; do sleep 0.05; done; head -c 1000000 | wc -c"
    code = """
    process = Process(["sh", "-c", sys.argv[1]])
    reader = int(process.read_lines(20))
    signal.signal(signal.SIGALRM, lambda *_: os.kill(reader, signal.SIGUSR1))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    process.write(bytes(1_000_000))
    print(int(process.read_lines(20)))
    """
    assert alone(code, script) == ["1000000"]


def test_a_handler_is_called_while_a_command_does_not_end() -> None:
    code = """
    process = Process(["sh", "-c", "trap '' TERM; echo; exec sleep 300"])
    process.read_lines(20)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        process.end(grace=float("inf"))
    except KeyboardInterrupt:
        print(process.ended)
    """
    assert alone(code) == ["True"]


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
