"""Temporary folders: gone at the end of their block, whenever Ctrl-C comes."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fastrnns_rs.processes.temporary_folder import temporary_folder, temporary_root


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_new_private_and_gone_with_what_is_in_it(place: Path) -> None:
    with temporary_folder("x-") as folder:
        path = Path(folder)
        assert (path.parent, path.stat().st_mode & 0o777) == (place, 0o700)
        (path / "deeper").mkdir()
    assert not [*place.iterdir()]


@pytest.mark.parametrize(("depth", "descriptors"), [(1500, None), (300, 200)])
def test_folders_that_lie_deep_in_it_are_removed(depth: int, descriptors: int | None, place: Path) -> None:
    """`shutil.rmtree` of Python 3.11 calls itself for each, and its RecursionError ended the command.

    It has each of them open, and ignores that it cannot open the next.
    """
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, before[1]))
    try:
        _remove_deep(depth, place)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _remove_deep(depth: int, place: Path) -> None:
    with temporary_folder("x-") as folder:
        top = os.open(folder, os.O_RDONLY)
        inner = os.dup(top)
        for name in ["deep", *["x" * 9] * depth]:
            os.mkdir(name, dir_fd=inner)
            os.close(os.open("file", os.O_CREAT, dir_fd=inner))
            outer, inner = inner, os.open(name, os.O_RDONLY, dir_fd=inner)
            os.close(outer)
        os.symlink(place, "link", dir_fd=inner)
        os.close(inner)
        os.close(top)
        (place / "another").touch()
    assert [one.name for one in place.iterdir()] == ["another"]


def test_ctrl_c_as_it_is_made_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Path, **_settings: Any) -> None:
        os.mkdir(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder("x-"):
        pass
    assert not [*place.iterdir()]


def test_ctrl_c_inside_the_block_leaves_nothing(place: Path) -> None:
    with pytest.raises(KeyboardInterrupt), temporary_folder("x-"):
        raise KeyboardInterrupt
    assert not [*place.iterdir()]


def test_ctrl_c_while_it_is_removed_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as it is pressed; then it is passed on."""
    remove, presses = shutil.rmtree, iter([True, True])

    def interrupted(*words: object, **named: object) -> None:
        if next(presses, False):
            raise KeyboardInterrupt
        remove(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder("x-") as folder:
        Path(folder, "file").touch()
    assert not [*place.iterdir()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_an_interrupt_leaves_no_file_of_the_first_look(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python makes a file in each folder that it tries, and removes it."""
    real = os.open

    def interrupted(*given: Any, **more: Any) -> int:
        descriptor = real(*given, **more)
        os.kill(os.getpid(), number)
        time.sleep(0.05)
        return descriptor

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(os, "open", interrupted)
    before, ended = signal.signal(number, interrupt), threading.Event()
    # Another thread, as numpy has, gets the signals that the main thread does not take.
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            temporary_root()
    finally:
        signal.signal(number, before)
        ended.set()
        other.join()
    assert os.listdir(tmp_path) == []
