"""Runner files that change the process of the command: it still writes to the given places, and ends."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastrnns_rs.cli import runner_options
from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.process_state import process_restored, standard_output_elsewhere
from fastrnns_rs.runners import plugins, registry

CODE = """
import os, resource, signal, sys
from fastrnns_rs import runner

os.chdir("/")
os.umask(0o777)
os.environ["OMP_NUM_THREADS"] = "77"
os.environ["PLANTED_VARIABLE"] = "1"
os.environ.pop("PLANTED_BEFORE", None)
sys.setrecursionlimit(5000)
sys.argv = sys.argv[:1]
resource.setrlimit(resource.RLIMIT_STACK, (1 << 22, resource.getrlimit(resource.RLIMIT_STACK)[1]))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
signal.alarm(3600)

@runner("moves")
def moves(problem):
    raise NotImplementedError
"""


def state() -> tuple[object, ...]:
    umask = os.umask(0o077)
    os.umask(umask)
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    signals = signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.alarm(0)
    limits = resource.getrlimit(resource.RLIMIT_STACK), tuple(sys.argv), signals
    return Path.cwd(), umask, *handlers, os.sched_getaffinity(0), dict(os.environ), sys.getrecursionlimit(), limits


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # What it changes ends with the test.
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTED_BEFORE", "1")
    for name in ("OMP_NUM_THREADS", "PLANTED_VARIABLE"):
        monkeypatch.delenv(name, raising=False)
    _, umask, *handlers, _, _, depth, _ = state()
    monkeypatch.setattr(sys, "argv", ["fastrnns-rs", "bench"])
    limits = resource.getrlimit(resource.RLIMIT_STACK)
    cpus = os.sched_getaffinity(0)
    found = tmp_path / "moves.py"
    found.write_text(CODE)
    yield found
    resource.setrlimit(resource.RLIMIT_STACK, limits)
    sys.setrecursionlimit(int(str(depth)))
    os.umask(int(str(umask)))
    os.sched_setaffinity(0, cpus)
    signal.alarm(0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, handler in zip((signal.SIGTERM, signal.SIGINT), handlers, strict=True):
        signal.signal(number, handler)  # type: ignore[arg-type]


def test_the_process_of_the_command_is_restored(file: Path) -> None:
    before = state()
    # The second path is relative, too.
    runner_options.load_files({"runner_file": [file.name, file.name], "internal_run": False})
    runner_options.load_files({"runner_file": [file.name]})
    assert state() == before


def test_plugins_do_not_change_the_process_of_the_command(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state()
    monkeypatch.syspath_prepend(str(file.parent))
    assert plugins.load(plugins.Plugin(name="moves", value="moves", package="moves 1.0")) is None
    assert "moves" in registry.all_runners()
    assert state() == before


def test_the_profiled_process_is_left_as_its_runners_want_it(file: Path) -> None:
    runner_options.load_files({"runner_file": [str(file)], "internal_run": True})
    *found, cpus, variables, depth, _ = state()
    assert cpus == {min(os.sched_getaffinity(0))}
    assert (*found, depth) == (Path("/"), 0o777, signal.SIG_IGN, signal.SIG_IGN, 5000)
    assert variables["OMP_NUM_THREADS"] == "77"


@pytest.fixture
def priorities(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Priorities that the process had: as for most users, who may only lower it."""
    found = [0]

    def refuse(*_given: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "getpriority", lambda _which, _who: found[-1])
    monkeypatch.setattr(os, "setpriority", refuse)
    monkeypatch.setattr(os, "nice", lambda more: found.append(found[-1] + more))
    return found


def test_a_file_that_changes_the_priority_is_refused(file: Path, priorities: list[int]) -> None:
    file.write_text(CODE + "os.nice(5)\n")
    text = "^the file 'moves.py' changed the priority of the process from 0 to 5, also for other runners"
    with pytest.raises(UsageError, match=text):
        runner_options.load_files({"runner_file": [file.name]})
    assert priorities == [0, 5]


def test_a_plugin_that_changes_the_priority_fails(
    file: Path, priorities: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(CODE + "os.nice(5)\n")
    monkeypatch.syspath_prepend(str(file.parent))
    sys.modules.pop("moves", None)
    failure = plugins.load(plugins.Plugin(name="moves", value="moves", package="moves 1.0"))
    assert failure is not None
    assert failure.reason.startswith("UsageError: the plug-in changed the priority of the process from 0 to 5")


@pytest.mark.parametrize(
    ("ending", "raised", "text"),
    [("import planted_nowhere", UsageError, "^cannot load file"), ("raise KeyboardInterrupt", KeyboardInterrupt, "^$")],
)
def test_a_changed_priority_hides_no_other_error(
    ending: str, raised: type[BaseException], text: str, file: Path, priorities: list[int]
) -> None:
    file.write_text(f"{CODE}os.nice(5)\n{ending}\n")
    with pytest.raises(raised, match=text):
        runner_options.load_files({"runner_file": [file.name]})
    assert priorities == [0, 5]


def test_a_plugin_that_changes_the_priority_and_fails_has_both_reasons(
    file: Path, priorities: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(file.parent))
    plugin = plugins.Plugin(name="moves", value="moves", package="moves 1.0")
    sys.modules.pop("moves", None)
    file.write_text(CODE + "os.nice(5)\nimport planted_nowhere\n")
    failure = plugins.load(plugin)
    assert failure is not None
    first, _, second = failure.reason.partition("; ")
    assert first == "ModuleNotFoundError: No module named 'planted_nowhere'"
    assert "changed the priority of the process from 0 to 5" in second
    # Ctrl-C during the import ends the command.
    sys.modules.pop("moves", None)
    file.write_text(CODE + "os.nice(5)\nraise KeyboardInterrupt  # the second version\n")
    with pytest.raises(KeyboardInterrupt):
        plugins.load(plugin)
    assert priorities == [0, 5, 10]


def test_a_changed_priority_is_restored(file: Path, priorities: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "setpriority", lambda _which, _who, priority: priorities.append(priority))
    file.write_text(CODE + "os.nice(5)\n")
    runner_options.load_files({"runner_file": [file.name]})
    assert priorities == [0, 5, 0]


def test_a_limit_that_stays_lower_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most users may not raise a hard limit. The other limit becomes as large as it may."""
    known = [(90, 100)]

    def limit(which: int, limits: tuple[int, int]) -> None:
        if which == resource.RLIMIT_NOFILE:
            if limits[1] > known[-1][1]:
                raise ValueError("not allowed to raise maximum limit")
            known.append(limits)

    monkeypatch.setattr(resource, "setrlimit", limit)
    monkeypatch.setattr(resource, "getrlimit", lambda which: known[-1] if which == resource.RLIMIT_NOFILE else (1, 1))
    text = "the plug-in lowered limits of the process for good, also for other runners: RLIMIT_NOFILE\\."
    for lowered, restored in (((8, 95), (90, 95)), ((8, 50), (50, 50))):
        known.append((90, 100))
        with pytest.raises(UsageError, match=text), process_restored("the plug-in"):
            known.append(lowered)
        assert known[-1] == restored


def test_two_threads_keep_standard_output() -> None:
    """Each restored what the other had replaced: results went to standard error for good."""
    before, place = sys.stdout, os.readlink("/proc/self/fd/1")
    ended = threading.Event()

    def other() -> None:
        with standard_output_elsewhere():
            ended.wait(20)

    thread = threading.Thread(target=other)
    with process_restored("the note"), standard_output_elsewhere():
        thread.start()
        # The other thread waits, and does not replace what this one has replaced.
        thread.join(0.3)
    ended.set()
    thread.join()
    assert (sys.stdout, os.readlink("/proc/self/fd/1")) == (before, place)
