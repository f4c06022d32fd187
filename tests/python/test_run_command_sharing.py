"""Commands of several threads and of forked processes: what they inherit of us, and what they cost us."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import AT_ONCE_S, children, marked, wait_for
from supervised import WAYS_OUT, alone, interpreter, shell, supervisors

from fastrnns_rs._core import Process, run_command

#: They start as many processes and threads as there may be.
pytestmark = pytest.mark.alone

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its user and its groups")


# Several at once, and processes that are forked.


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_one_leaves_is_not_taken_for_what_another_needs(way: str, mark: str, tmp_path: Path) -> None:
    other = f"9{mark}"
    with ThreadPoolExecutor() as pool:
        script = f"{WAYS_OUT[way]}\nuntil [ -e go ]; do sleep 0.02; done; pgrep -f '^sleep MARK'"
        goes_on = pool.submit(run_command, shell(script, other), cwd=tmp_path, timeout=60)
        wait_for(other, 1)
        assert run_command(shell(f"{WAYS_OUT[way]}\nsleep 0.1", mark)).exit_status == 0
        # Although the other still runs.
        assert not marked(f"sleep\0{mark}")
        assert not goes_on.done()
        (tmp_path / "go").touch()
        assert goes_on.result().exit_status == 0
    assert not marked(other)


def test_others_run_while_a_command_does() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(run_command, ["true"]).result().exit_status == 0
        assert pool.submit(run_command, ["sleep", "60"], timeout=0.1).result().timed_out
        running = pool.submit(run_command, ["sleep", "3"])
        begin, counted = time.monotonic(), 0
        while time.monotonic() - begin < 0.3:
            counted += 1
            time.sleep(0)
        assert not running.done()
    assert counted > 300, "each turn asks for the interpreter"


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


def test_a_forked_process_does_not_act_on_commands_that_are_not_its() -> None:
    code = """
    shell("true")
    running = Process(["sh", "-c", "echo ready; read line; echo $line; read line; echo $line"])
    print(running.read_lines(10).decode().strip())
    gone = Process(["sh", "-c", "exit 3"])
    while not gone.ended:
        gone.read_lines(10)
    if pid := os.fork():
        os.waitpid(pid, 0)
        assert not running.ended
        running.write(b"parent\\n")
        print(running.read_lines(10).decode().strip())
        running.write(b"again\\n")
        print(running.read_lines(10).decode().strip(), running.end(10).exit_status)
    else:
        for act in (running.end, lambda: running.end(1), lambda: running.write(b"c\\n"), lambda: running.read_lines(1)):
            try:
                print(act())
            except RuntimeError as error:
                assert "it is of the process that this one was forked from" in str(error)
        print("child", gone.end().exit_status)
    """
    assert alone(code) == ["ready", "child 3", "parent", "again 0"]


def test_a_process_may_be_forked_at_any_time() -> None:
    code = """
    def work():
        while not ended:
            # Another mask needs another supervisor, so that one is being started nearly always.
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
    nice = min(os.nice(0) + 3, 19)
    expected = ["0027 0027", "['0', '123', '0', '123']", f"{nice} {nice}", "1 1", "deaf deaf", "1"]
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
    except PermissionError:
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


def gone_in_time() -> bool:
    """Returns True if every supervisor ends in time. Another test may have left a child."""
    deadline = time.monotonic() + AT_ONCE_S
    while supervisors() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not supervisors()


def test_supervisors_without_work_leave() -> None:
    """Another mask needs another supervisor."""
    umask = os.umask(0)
    try:
        for index in range(20):
            os.umask(index)
            run_command(["true"])
    finally:
        os.umask(umask)
    assert supervisors()
    assert gone_in_time()
    assert run_command(["true"]).exit_status == 0
    assert len(supervisors()) == 1
    assert children(state="Z") == []


def test_a_command_that_comes_as_the_supervisor_leaves() -> None:
    def twice(pause: float) -> int | None:
        run_command(["true"])
        time.sleep(pause)
        return run_command(["true"]).exit_status

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(twice, [0.95 + index / 160 for index in range(16)])) == {0}


def test_nothing_piles_up() -> None:
    run_command(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for index in range(100):
        run_command(["true"])
        with pytest.raises(FileNotFoundError):
            run_command([f"no-such-program-{index}"])
        with pytest.raises(PermissionError):
            run_command(["/tmp"])
        Process(["cat"]).end()
    # Descriptors that a test before this one left open may be closed meanwhile.
    assert len(os.listdir("/proc/self/fd")) <= before
    # A supervisor that has just left is collected by the next command.
    deadline = time.monotonic() + AT_ONCE_S
    while children(state="Z") and time.monotonic() < deadline:
        run_command(["true"])
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
            run_command(["true"], timeout=60)
        except (OSError, RuntimeError) as error:
            print(limit, "refused", str(error).count("\\n"), time.monotonic() - begin < 20)
        else:
            print(limit, "ran", 0, time.monotonic() - begin < 20)
    """
    found = [line.split() for line in alone(code)]
    assert len(found) == 37
    assert {tuple(row[2:]) for row in found} == {("0", "True")}
    assert (found[0][1], found[-1][1]) == ("refused", "ran")
