"""A module in the working directory, or in a folder above it, is not run by the Python of another program."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run_process
from fake_tools import nsys
from real_nsys import NSYS, nsys_is_here

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes import worker_setting
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.profile import tools
from fastrnns_rs.verbs.profile.attempt import child_environment

RUNNER = """\
import os

import torch
from fastrnns_rs import ModelDef, runner


@runner("where", family="test")
def where(problem):
    with open({path!r}, "w") as file:
        file.write(os.getcwd())
    return ModelDef(inputs=[torch.ones(3)], params=[], forward=torch.neg)
"""
NOTES = "import os; open({path!r}, 'a').write('{step} in ' + os.getcwd() + '\\n'); "


def notes(path: Path, then: str = "") -> dict[str, str]:
    """Statements of a fake nsys, each of which notes its working directory first."""
    steps = {"profile": "call.run(); call.report()", "export": "call.export()"}
    return {step: NOTES.format(path=str(path), step=step) + then + steps[step] for step in steps}


@nsys_is_here
@pytest.mark.parametrize("words", [["doctor"], ["profile", "--nsys", "cudnn", "--device", "cpu", "--dry-run"]])
def test_the_real_nsys_imports_none(tmp_path: Path, words: list[str]) -> None:
    """It searches the working directory for modules, and the folders above it for a standard library."""
    here, ran = tmp_path / "here", tmp_path / "ran"
    here.mkdir()
    evil = f"open({str(ran)!r}, 'w').close()"
    (here / "sitecustomize.py").write_text(evil)
    for minor in range(6, 15):
        packages = tmp_path / "lib" / f"python3.{minor}" / "site-packages"
        packages.mkdir(parents=True)
        (packages.parent / "os.py").touch()
        (packages / "evil.pth").write_text(f"import os; {evil}\n")
    assert NSYS is not None
    subprocess.run([NSYS, "--version"], cwd=here, check=True, capture_output=True)
    is_reached = ran.exists()
    ran.unlink(missing_ok=True)
    assert run_process(*words, cwd=here).status == 0
    assert not ran.exists(), f"a plain nsys runs it: {is_reached}"


def test_nsys_starts_in_the_root_folder_and_runners_do_not(tmp_path: Path) -> None:
    here, said = tmp_path / "here", tmp_path / "said"
    here.mkdir()
    nsys(here / "nsys", **notes(said))
    (here / "where.py").write_text(RUNNER.format(path=str(tmp_path / "folder")))
    words = ["where", "--runner-file", "where.py", "--device", "cpu", "--quick", "--nloops", "1", "--output-dir", "out"]
    done = run_process("profile", "--nsys", "--nsys-path", "./nsys", *words, cwd=here)
    assert (tmp_path / "folder").read_text() == str(here), done
    assert {*said.read_text().splitlines()} == {"profile in /", "export in /"}
    assert [*(here / "out").glob("*.sqlite")]


def test_a_report_is_exported_in_the_root_folder(tmp_path: Path) -> None:
    here, said = tmp_path / "here", tmp_path / "said"
    here.mkdir()
    nsys(here / "nsys", **notes(said))
    (here / "one.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report file format\n2022.4.2.1\n")
    run_process("report", "one.nsys-rep", "--nsys-path", "./nsys", cwd=here)
    assert {*said.read_text().splitlines()} == {"export in /"}


def test_only_nsys_starts_elsewhere() -> None:
    assert [tools.start_folder(name) for name in ("nsys", "nvprof", "torch", None)] == ["/", None, None, None]


@pytest.mark.parametrize("environment", [Setting().environment, child_environment])
def test_python_that_a_runner_starts_imports_none(environment, tmp_path: Path) -> None:
    """torch starts `python -c` to find the vector instructions of the CPU."""
    (tmp_path / "ctypes.py").write_text("raise SystemExit(7)")
    variables = environment()
    command = [sys.executable, "-c", "import ctypes, json, sys; print(json.dumps(sys.path))"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, check=False)
    assert done.returncode == 0, done
    assert not {"", str(tmp_path)}.intersection(json.loads(done.stdout))


@pytest.mark.parametrize("environment", [Setting().environment, child_environment])
def test_a_folder_with_the_separator_in_its_name_names_no_other(
    environment: Callable[[], dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would search the part before it, which another user may have made."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "sitecustomize.py").write_text("raise SystemExit(7)")
    monkeypatch.syspath_prepend(tmp_path / "shared:1")
    done = subprocess.run([sys.executable, "-c", ""], env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done


def test_a_folder_of_the_package_with_the_separator_in_its_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a:b").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a:b"))
    worker_setting._make_package_folder.cache_clear()
    with pytest.raises(FastrnnsError, match="temporary folder with ':' in its name"):
        Setting(python=sys.executable).environment()
