"""A program in the working directory is not run because a folder of `PATH` is relative or empty."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fastrnns_rs import _core
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.machine import checkout, nvidia
from fastrnns_rs.machine.programs import find_program
from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import check_interpreter
from fastrnns_rs.verbs.inductor import ncu
from fastrnns_rs.verbs.inductor.request import InductorOptions

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
            program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/executed'\n")
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
    assert checkout.head_commit() is None
    with pytest.raises(FastrnnsError, match="cannot run nvidia-smi: No such file"):
        nvidia.ask("--query-gpu=uuid", fields=1)
    with pytest.raises(MissingError, match="program not found: 'ncu'"):
        ncu.find(InductorOptions(), root=planted / "root")
    with pytest.raises(MissingError, match="program not found: 'python'"):
        check_interpreter("python")
    assert not (planted / "executed").exists()
