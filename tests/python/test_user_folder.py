"""Folders of this user."""

from __future__ import annotations

import pwd
from pathlib import Path
from typing import NoReturn

import pytest
from commands import run_cli

from fastrnns_rs.documents.user_folder import user_folder


def test_the_folders_are_those_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/anna")
    assert user_folder("data") == Path("/elsewhere/fastrnns-rs")
    assert user_folder("state") == Path("/home/anna/.local/state/fastrnns-rs")


def test_a_user_without_a_home_folder(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_number: int) -> NoReturn:
        raise KeyError

    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "FASTRNNS_NO_HISTORY"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    done = run_cli("history")
    assert (done.status, done.stdout) == (0, "no runs in /fastrnns-rs/data/history\n")
    assert [*anywhere.iterdir()] == []
