"""Folders that other users share: torch's cache, file systems of others, and links in a folder of captures."""

from __future__ import annotations

import gzip
import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faulty_files import Mounted, why_not

from fastrnns_rs.documents import writing
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes import ownership
from fastrnns_rs.processes.temporary_folder import compiler_folder, torch_cache
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.inductor.module_files import check_cache
from fastrnns_rs.verbs.profile import capture_storage
from fastrnns_rs.verbs.profile.attempt import child_environment
from fastrnns_rs.verbs.report import ray_nodes
from fastrnns_rs.worker.profile import torch_files
from fastrnns_rs.worker.profile.answer import Answer


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    return tmp_path


@pytest.mark.parametrize("planted", ["folder", "link", "file"])
def test_no_process_compiles_with_headers_of_others(temporary: Path, planted: str) -> None:
    """Whatever `TORCHINDUCTOR_CACHE_DIR` is, torch has precompiled headers in its default cache."""
    place = torch_cache()
    if planted == "folder":
        place.mkdir()
        place.chmod(0o777)
    elif planted == "link":
        place.symlink_to(temporary / "later")
    else:
        place.touch()
    for variables in (Setting().environment(), child_environment()):
        other = Path(variables["TMPDIR"])
        assert other.parent == temporary
        assert stat.S_IMODE(other.stat().st_mode) == 0o700
    assert Setting(variables={"TMPDIR": "/mine"}).environment()["TMPDIR"] == "/mine"


def test_no_code_of_the_working_directory_runs_where_no_temporary_folder_is_writable(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes the working directory then, which may have the files of an archive."""
    for name in ("TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    monkeypatch.chdir(temporary)
    with compiler_folder():
        assert not torch_cache().exists()
    torch_cache().mkdir(mode=0o700)
    for variables in (Setting().environment(), child_environment()):
        assert Path(variables["TMPDIR"]).parent == temporary
    with pytest.raises(FastrnnsError, match="^torch's cache is in the working directory: ") as raised:
        check_cache()
    assert raised.value.hint == "Set TMPDIR to a folder of your own."
    # It may be named.
    monkeypatch.setenv("TMPDIR", str(temporary))
    check_cache()
    assert Setting().environment()["TMPDIR"] == str(temporary)


@pytest.mark.usefixtures("temporary")
def test_torchs_cache_is_made_before_others_make_it() -> None:
    for variables in (Setting().environment(), child_environment()):
        assert "TMPDIR" not in variables
    assert not torch_cache().exists()
    with compiler_folder():
        pass
    assert stat.S_IMODE(torch_cache().stat().st_mode) == 0o700
    assert "TMPDIR" not in Setting().environment()


def test_a_file_system_of_another_user_is_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program says who owns a file, and who may write to it."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    with Mounted(tmp_path) as files:
        (files.folder / "pyproject.toml").touch()
        assert ownership._served([files.folder / "pyproject.toml", tmp_path]) is None
        monkeypatch.setattr(ownership, "_trusted", lambda: {54321})
        assert ownership._served([tmp_path]) is None
        assert "mounted the file system" in str(ownership._served([tmp_path, files.folder / "pyproject.toml"]))


def test_a_capture_overwrites_nothing_through_a_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    folder = tmp_path / "shared"
    folder.mkdir()
    names = ("x.log", "x.answer.json", "x.py.0.json.gz", "x.py.0.json")
    for name in names:
        other.write_text("precious")
        (folder / name).symlink_to(other)

    def export(path: str) -> None:
        Path(path).write_text('{"traceEvents": []}')

    profiler: Any = SimpleNamespace(export_chrome_trace=export)
    torch_files.export(profiler, folder / "x.py.0.json.gz", "x")
    capture_storage._write(folder / "x.log", "a log")
    Answer(runners=[]).save(folder / "x.answer.json")
    assert other.read_text() == "precious"
    assert sorted(one.name for one in folder.iterdir()) == sorted(names)
    assert (folder / "x.log").read_text() == "a log"
    assert json.loads(gzip.decompress((folder / "x.py.0.json.gz").read_bytes())) == {"traceEvents": []}


def test_what_replaces_a_link_has_no_rights_of_its_target(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    (tmp_path / "other").chmod(0o666)
    (tmp_path / "link").symlink_to("other")
    before = os.umask(0o022)
    try:
        writing.write(tmp_path / "link", [b"x"], str(tmp_path / "link"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "link").lstat().st_mode) == 0o644


def test_workers_of_ray_do_not_search_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray gives them the working directory in which a process connects."""
    seen = []

    def init(**_: object) -> None:
        seen.append(os.getcwd())

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init))  # type: ignore[arg-type]
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    monkeypatch.chdir(tmp_path)
    ray_nodes._connected()
    assert seen == ["/"]
    assert Path.cwd() == tmp_path
