"""Folders that others share: torch's and Python's caches, file systems of others, and links in a folder of captures."""

from __future__ import annotations

import grp
import gzip
import importlib._bootstrap_external as importing
import json
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_tools
import pytest
from commands import run_with_facts
from faulty_files import Mounted, why_not
from profile_commands import REPORTS, profile
from test_code import OTHER, Spoil, give_away, let_all_write

from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.documents import writing
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes import ownership
from fastrnns_rs.processes.temporary_folder import compiler_folder, torch_cache
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry
from fastrnns_rs.verbs.inductor.module_files import check_cache
from fastrnns_rs.verbs.profile import capture_storage
from fastrnns_rs.verbs.profile.attempt import child_environment
from fastrnns_rs.verbs.profile.private_folder import profiler_variables
from fastrnns_rs.verbs.report import ray_nodes
from fastrnns_rs.worker.profile import torch_files
from fastrnns_rs.worker.profile.answer import Answer

#: Writes a file that all users may read to the folder of temporary files, as nsys does, and its mode and variables.
RECORDS = """
import json, os
folder = Path(os.environ.get("NVPROF_TMPDIR") or os.environ.get("TMPDIR", "/tmp"))
(folder / "report.qdstrm").touch()
mark = Path({mark!r})
mark.write_text(json.dumps([str(folder), folder.stat().st_mode & 0o777, os.environ.get("TMPDIR")]))
"""
#: Runner file that records the `TMPDIR` of the profiled process.
LOOKS = """
import json, os
from pathlib import Path
from fastrnns_rs import runner

if "FASTRNNS_WORKER" in os.environ:
    Path({mark!r}).write_text(json.dumps([os.environ.get("TMPDIR"), "FASTRNNS_OWN_TMPDIR" in os.environ]))

@runner("mine")
def make(problem):
    return lambda x, hidden: (x.sum(), hidden)
"""


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


@pytest.mark.parametrize("ending", [REPORTS, "time.sleep(600)"])
@pytest.mark.parametrize("redact", [["--redact"], []])
def test_temporary_files_of_nsys_are_private_and_removed(temporary: Path, ending: str, redact: list[str]) -> None:
    """nsys lets all users read them, they have all variables, and an nsys that is ended leaves them."""
    mark = temporary / "mark"
    tool = fake_tools.nsys(temporary / "bin" / "nsys", profile=RECORDS.format(mark=str(mark)) + ending)
    done = profile(tool, temporary / "out", *redact, "--timeout", "2.5", TMPDIR=str(temporary))
    assert done.status == (0 if ending == REPORTS else ExitCode.TIMED_OUT), done.stderr
    folder, mode, _ = json.loads(mark.read_text())
    assert Path(folder).parent == temporary
    assert mode == 0o700
    assert not Path(folder).exists()


def test_nvprof_gets_a_private_folder_by_its_own_variable(temporary: Path) -> None:
    mark = temporary / "mark"
    tool = fake_tools.nvprof(temporary / "bin" / "nvprof", profile=RECORDS.format(mark=str(mark)) + "call.profile()")
    with profiler_variables("nvprof", "/mine") as variables:
        done = subprocess.run([tool, "-o", "x"], env={"TMPDIR": "/mine", **variables}, check=False)
    assert done.returncode != 0
    folder, mode, other = json.loads(mark.read_text())
    assert Path(folder).parent == temporary
    assert mode == 0o700
    assert other == "/mine"
    assert not Path(folder).exists()


@pytest.mark.parametrize("own", ["own", None])
def test_a_profiled_process_has_the_temporary_folder_of_its_user(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    mark, file = temporary / "mark", temporary / "looks.py"
    file.write_text(LOOKS.format(mark=str(mark)))
    tool = fake_tools.nsys(temporary / "bin" / "nsys")
    if own is not None:
        monkeypatch.setenv("TMPDIR", str(temporary))
    profile(tool, temporary / "out", "--runner-file", file, runners=("mine",))
    assert json.loads(mark.read_text()) == [None if own is None else str(temporary), False]


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


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runner file beside a package. What Python has cached of its module differs from the source."""
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "cached_package").mkdir()
    (tmp_path / "cached_package/__init__.py").touch()
    module = tmp_path / "cached_package/cached_module.py"
    module.write_text("TEXT = 'of the source'\n")
    cached = Path(cache_from_source(str(module)))
    cached.parent.mkdir()
    # Python does not compare such a cache with the source.
    code = compile("TEXT = 'of the cache'", str(module), "exec")
    cached.write_bytes(importing._code_to_hash_pyc(code, bytes(8), checked=False))  # type: ignore[attr-defined]
    found = tmp_path / "mine.py"
    found.write_text(
        "import fastrnns_rs\nfrom cached_package.cached_module import TEXT\n"
        "@fastrnns_rs.runner('cached', description=TEXT)\ndef cached(problem): raise ValueError(TEXT)\n"
    )
    yield found
    for name in [name for name in sys.modules if name.startswith("cached_")]:
        del sys.modules[name]


def leave_own(path: Path) -> None:
    """Leaves a cache to this user: it is read, or each worker would compile a large project again."""


def link_to_others(path: Path) -> None:
    others = path.with_name("others")
    others.mkdir()
    others.chmod(0o777)
    path.rename(others / "moved")
    path.symlink_to(others / "moved")


@pytest.mark.parametrize("place", ["cached_package", "cached_package/__pycache__", "cached_package/__pycache__/*"])
@pytest.mark.parametrize("spoil", [leave_own, let_all_write, give_away, link_to_others])
def test_only_ones_own_cache_of_a_module_beside_a_runner_file_runs(spoil: Spoil, place: str, file: Path) -> None:
    (path,) = file.parent.glob(place)
    spoil(path)
    registry.load_file(str(file))
    assert registry.find("cached").description == f"of the {'cache' if spoil is leave_own else 'source'}"


@pytest.mark.parametrize("spoil", [leave_own, let_all_write])
def test_a_worker_reads_only_ones_own_cache(spoil: Spoil, file: Path) -> None:
    spoil(file.parent / "cached_package/__pycache__")
    words = ("--quick", "--processes", "1", "--device", "cpu", "--no-history", "--json")
    done = run_with_facts("bench", "cached", *words, "--runner-file", file)
    (row,) = done.json()["results"]
    assert row["reason"] == f"ValueError: of the {'cache' if spoil is leave_own else 'source'}", done.stderr


@pytest.mark.parametrize("spoil", [leave_own, let_all_write])
def test_no_cache_is_made_where_others_may_write(spoil: Spoil, file: Path) -> None:
    folder = file.parent / "cached_package/__pycache__"
    (cached,) = folder.iterdir()
    cached.unlink()
    spoil(folder)
    registry.load_file(str(file))
    assert registry.find("cached").description == "of the source"
    assert cached.exists() is (spoil is leave_own)


def test_no_cache_of_others_is_read_through_a_relative_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_all_write(file.parent / "cached_package/__pycache__")
    monkeypatch.chdir(file.parent)
    code = file.read_text().replace("cached_package.", "")
    file.write_text(f"import sys\nsys.path.insert(0, 'cached_package')\n{code}")
    registry.load_file(str(file))
    assert registry.find("cached").description == "of the source"


def test_relative_folders_fail_no_import_if_the_working_directory_was_removed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = file.parent / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    file.write_text(f"import sys\nsys.path.insert(0, 'removed')\n{file.read_text()}")
    registry.load_file(str(file))


@pytest.mark.parametrize(
    ("members", "users", "own"),
    [
        ([], {"me": 7}, True),
        (["me", "root"], {"me": 8}, False),
        (["eve"], {"me": 7, "eve": 9}, False),
        ([], {"me": 7, "eve": 7}, False),
        ([], {"eve": 9}, False),
    ],
)
def test_a_group_of_one_is_the_user(
    monkeypatch: pytest.MonkeyPatch, members: list[str], users: dict[str, int], *, own: bool
) -> None:
    known = [
        SimpleNamespace(pw_name=name, pw_uid=os.geteuid() if name == "me" else OTHER, pw_gid=group)
        for name, group in users.items()
    ]
    monkeypatch.setattr(pwd, "getpwall", lambda: known)
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_mem=members))
    assert ownership._is_own_group(7) == own
