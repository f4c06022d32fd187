"""Runner files that change the process of the command: it still writes to the given places, and ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastrnns_rs.cli import runner_options
from fastrnns_rs.runners import plugins, registry

CODE = """
import os, signal, sys
from fastrnns_rs import runner

os.chdir("/")
os.umask(0o777)
os.environ["OMP_NUM_THREADS"] = "77"
os.environ["PLANTED_VARIABLE"] = "1"
os.environ.pop("PLANTED_BEFORE", None)
sys.setrecursionlimit(5000)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)

@runner("moves")
def moves(problem):
    raise NotImplementedError
"""


def state() -> tuple[object, ...]:
    umask = os.umask(0o077)
    os.umask(umask)
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    return Path.cwd(), umask, *handlers, dict(os.environ), sys.getrecursionlimit()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # What it changes ends with the test.
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTED_BEFORE", "1")
    for name in ("OMP_NUM_THREADS", "PLANTED_VARIABLE"):
        monkeypatch.delenv(name, raising=False)
    _, umask, *handlers, _, depth = state()
    found = tmp_path / "moves.py"
    found.write_text(CODE)
    yield found
    sys.setrecursionlimit(int(str(depth)))
    os.umask(int(str(umask)))
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
    *found, variables, depth = state()
    assert (*found, depth) == (Path("/"), 0o777, signal.SIG_IGN, signal.SIG_IGN, 5000)
    assert variables["OMP_NUM_THREADS"] == "77"
