"""Files that cannot be replaced, in writable folders: they are refused before anything is measured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from fastrnns_rs.documents.replaceable import why_not_replaceable
from fastrnns_rs.documents.writing import check_writable
from fastrnns_rs.errors import UsageError

Making = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def flagged(path: Path, flag: str) -> Iterator[None]:
    done = subprocess.run(["chattr", f"+{flag}", path], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"chattr: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["chattr", f"-{flag}", path], check=True)


@contextmanager
def mounted(path: Path) -> Iterator[None]:
    done = subprocess.run(["mount", "--bind", path, path], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: flagged(path, "i"), "the file is immutable"),
        (lambda path: flagged(path, "a"), "the file is append-only"),
        (mounted, "the file is a mount of its own"),
    ],
    ids=["immutable", "append-only", "mount"],
)
def test_a_file_that_cannot_be_replaced_is_refused(tmp_path: Path, make: Making, reason: str) -> None:
    """The command measured to its end, and then found no place for the run."""
    path = tmp_path / "a run, ü.json"
    path.write_text("kept")
    with make(path), pytest.raises(UsageError, match=reason):
        check_writable(path)
    check_writable(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_the_file_of_another_user_in_a_sticky_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    path.write_text("")
    tmp_path.chmod(0o1777)
    owner = path.stat().st_uid
    for user, is_refused in ((owner + 1, True), (owner, False), (0, False)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert (why_not_replaceable(str(path)) is not None) == is_refused


def test_a_file_that_is_missing_can_be_written(tmp_path: Path) -> None:
    assert why_not_replaceable(str(tmp_path / "missing.json")) is None
