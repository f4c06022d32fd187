"""A program in the working directory is not run because a folder of `PATH` is relative or empty."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import finished, run_process
from conftest import ROOT

from fastrnns_rs import _core
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.machine import checkout as git
from fastrnns_rs.machine import nvidia
from fastrnns_rs.processes.programs import absolute_folders, find_program
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import check_interpreter
from fastrnns_rs.verbs.inductor import ncu
from fastrnns_rs.verbs.inductor.request import InductorOptions
from fastrnns_rs.verbs.profile import tools
from fastrnns_rs.verbs.profile.attempt import child_environment

PROGRAMS = ("git", "ncu", "nsys", "nvidia-smi", "nvprof", "python")


@pytest.fixture(params=["", ".", "bin", "..//here/bin"], ids=repr)
def planted(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with programs that `PATH` and the toolkit's variable reach by a relative folder.

    Each says by a file `executed` that it ran.
    """
    here = tmp_path / "here"
    for folder in (here, here / "bin"):
        folder.mkdir()
        for name in PROGRAMS:
            program = folder / name
            program.write_text(f"#!/bin/sh\n: >'{tmp_path}/executed'\n")
            program.chmod(0o755)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f"{request.param}:/nowhere")
    monkeypatch.setenv("CUDA_HOME", request.param)
    assert shutil.which("git"), "the test plants programs that would be found"
    return tmp_path


def test_it_is_not_found(planted: Path) -> None:
    assert {name: find_program(name) for name in PROGRAMS} == dict.fromkeys(PROGRAMS)
    # What a path names is found.
    assert find_program(f"{planted}/here/git") == f"{planted}/here/git"
    assert [_core.Profiler.find(name, root=planted / "root") for name in ("nsys", "nvprof")] == [[], []]


def test_it_is_not_run(planted: Path) -> None:
    assert git.head_commit() is None
    with pytest.raises(FastrnnsError, match="cannot run nvidia-smi: No such file"):
        nvidia.ask("--query-gpu=uuid", fields=1)
    with pytest.raises(MissingError, match="program not found: 'ncu'"):
        ncu.find(InductorOptions(), root=planted / "root")
    with pytest.raises(MissingError, match="program not found: 'python'"):
        check_interpreter("python")
    with pytest.raises(MissingError, match="nsys: No such file"):
        tools.choose("nsys", "nsys")
    assert not (planted / "executed").exists()


@pytest.mark.usefixtures("planted")
def test_no_worker_finds_it() -> None:
    """torch starts a compiler, for example."""
    for variables in (Setting().environment(), child_environment()):
        assert variables["PATH"] == "/nowhere"


@pytest.mark.parametrize("environment", [Setting().environment, child_environment])
@pytest.mark.parametrize(
    "name",
    [
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "LIBRARY_PATH",
        "LD_RUN_PATH",
        "COMPILER_PATH",
        "LD_LIBRARY_PATH",
    ],
)
@pytest.mark.parametrize(
    ("folders", "kept"), [(":/a:.:include:/b:", "/a:/b"), ("/a", "/a"), (".", None), (":", None), ("", None)]
)
def test_no_program_of_a_worker_takes_headers_or_libraries_of_the_working_directory(
    environment: Callable[[], dict[str, str]],
    name: str,
    folders: str,
    kept: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An empty entry is that folder for a compiler and for the loader, and Triton starts a compiler there."""
    monkeypatch.setenv(name, folders)
    assert environment().get(name) == kept


def test_the_loader_has_two_separators_and_the_folder_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/a;;libs;/b:$ORIGIN/../lib:${ORIGIN}:")
    assert Setting().environment()["LD_LIBRARY_PATH"] == "/a:/b:$ORIGIN/../lib:${ORIGIN}"


def test_git_and_nvidia_smi_load_no_library_of_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def run(_command: object, *, env: dict[str, str], **_: object) -> object:
        seen.append(env.get("LD_LIBRARY_PATH"))
        raise OSError

    monkeypatch.setenv("LD_LIBRARY_PATH", ":/a")
    for module in (git, nvidia):
        monkeypatch.setattr(module, "run_command", run)
        monkeypatch.setattr(module, "program_path", str)
    assert git.head_commit() is None
    with pytest.raises(FastrnnsError, match="nvidia-smi"):
        nvidia.ask("--query-gpu=uuid", fields=1)
    assert seen == ["/a", "/a"]


@pytest.mark.parametrize("path", [".", "", ":"])
def test_a_path_without_folders_is_not_the_working_directory(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path)
    assert absolute_folders() == os.defpath


def test_the_completion_script_starts_no_program_of_the_working_directory(tmp_path: Path) -> None:
    program = tmp_path / "bash"
    program.write_text("#!/bin/sh\ntouch executed\n")
    program.chmod(0o755)
    variables = {"PATH": f".:{os.environ['PATH']}", "_FASTRNNS_RS_COMPLETE": "bash_source"}
    done = run_process(cwd=tmp_path, **variables)
    assert "_fastrnns_rs_completion" in done.stdout
    assert not (tmp_path / "executed").exists()


def test_scripts_stay_in_their_checkout(tmp_path: Path) -> None:
    """`CDPATH` names folders in which a shell searches for the target of `cd`."""
    checkout, other = tmp_path / "checkout", tmp_path / "other"
    for folder in (checkout, other):
        (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup", checkout / "scripts")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\npwd >{tmp_path}/place\nexit 1\n")
    python.chmod(0o755)
    finished(["bash", "scripts/setup"], cwd=checkout, CDPATH=other, PYTHON=python)
    assert (tmp_path / "place").read_text().strip() == str(checkout)
    for one in (*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"):
        assert not one.is_file() or not re.search(r'^cd "?\$\(dirname', one.read_text(), re.MULTILINE), one.name


def test_programs_of_profilers_are_not_those_of_the_working_directory(tmp_path: Path) -> None:
    """Toolkits have scripts in the place of programs, and `env` searches `PATH` for the shell of a script."""
    here, tools_folder = tmp_path / "here", tmp_path / "tools"
    for folder in (here, tools_folder):
        folder.mkdir()
    plant(here / "bash", f"#!/bin/sh\n: >'{tmp_path}/executed'\n")
    for name in ("nsys", "nvidia-smi"):
        plant(tools_folder / name, "#!/usr/bin/env bash\necho version 2025.1.1\n")
    run_process("doctor", "--json", cwd=here, PATH=f".:{tools_folder}:{os.environ['PATH']}")
    assert not (tmp_path / "executed").exists()


def plant(program: Path, text: str) -> None:
    program.write_text(text)
    program.chmod(0o755)
