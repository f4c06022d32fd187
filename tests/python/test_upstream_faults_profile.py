"""Faults 17 to 21 of PyTorch's fastrnns, those of its profile command: each passes on ours, fails on a planted copy."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import TINY, run_cli
from test_profile_forwarding import parsed, plan_of

from fastrnns_rs._core import Profiler, run_command
from fastrnns_rs.documents import file_names
from fastrnns_rs.verbs.profile.child_command import child_command


def test_fault_17_the_child_understands_what_it_is_given() -> None:
    theirs = argparse.ArgumentParser()
    theirs.add_argument("--internal-run", "--internal_run", action="store_true")
    with pytest.raises(SystemExit):
        theirs.parse_args([f"--{name}={value}" for name, value in vars(theirs.parse_args([])).items()])
    request = parsed(["--nsys", "--rnns", "jit", "--nloops", "3"])
    child = child_command(request, plan_of(request), Path("stem"), None)
    again = parsed(child[child.index("profile") + 1 :])
    assert again.options.nloops == 3
    assert again.tool == "nsys"


def test_fault_18_no_shell_and_no_name_twice(tmp_path: Path) -> None:
    bait = "a b; touch injected; $(touch injected)"
    shouted = subprocess.run(f"echo {bait}", shell=True, cwd=tmp_path, capture_output=True, check=False)
    assert shouted.returncode == 0
    assert (tmp_path / "injected").exists(), "the planted copy goes through a shell"
    (tmp_path / "injected").unlink()
    assert run_command(["echo", bait], cwd=tmp_path).stdout_tail == f"{bait}\n"
    assert not (tmp_path / "injected").exists()
    problem = plan_of(parsed(["--rnns", "jit"])).tasks[0].problem
    folder = tmp_path / "not" / "there yet"
    stems = {file_names.reserve(folder, ["jit"], problem) for _ in range(5)}
    assert len(stems) == 5
    assert file_names.name(["jit"], problem, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).endswith("_20260102T030405Z")


def test_fault_19_output_of_any_bytes_is_kept_and_paths_are_shown(tmp_path: Path) -> None:
    printed = "b'caf\\xc3\\xa9 \\xff'"
    with pytest.raises(UnicodeDecodeError):
        eval(printed).decode("ascii")
    code = f"import sys; sys.stdout.buffer.write({printed})"
    assert run_command([sys.executable, "-c", code]).stdout_tail == "café �"
    arguments = [
        "--torch",
        "--rnns",
        "cudnn",
        *TINY,
        "--no-unprofiled",
        "--output-dir",
        tmp_path / "café",
        "--no-report",
    ]
    done = run_cli("profile", *arguments, COLUMNS="400")
    assert done.status == 0, done.stderr
    stem = next(line.removeprefix("capture: ") for line in done.stdout.splitlines() if line.startswith("capture: "))
    suffixes = [line.split()[0] for line in done.stdout.splitlines() if line.startswith(".")]
    assert suffixes
    assert all(Path(stem + suffix).is_file() for suffix in suffixes)


def test_fault_20_there_are_profilers_for_newer_gpus() -> None:
    done = run_cli("profile", "--dry-run", "--rnns", "cudnn")
    assert done.status == 0
    assert "nvprof" not in shlex.split(done.stdout)[0]
    assert "profiling with" in done.stderr


def test_fault_21_only_iterations_are_in_the_capture(tmp_path: Path) -> None:
    """Ranges tell runners, phases and iterations apart; on a GPU the profiler waits for the first of them."""
    nsys = tmp_path / "nsys"
    nsys.write_text(
        "#!/bin/sh\n[ $1 = --version ] && echo version 2022.4.2 || echo --capture-range= --capture-range-end= --wait=\n"
    )
    nsys.chmod(0o755)
    command = Profiler("nsys", nsys).wrap(["app"], tmp_path / "stem", cuda=True, capture_range=True)
    assert {"--capture-range=cudaProfilerApi", "--capture-range-end=stop"} <= set(command)
    done = run_cli("profile", "--device", "cpu", "--dry-run", "--torch", "--rnns", "cudnn")
    assert done.status == 0, "a CPU will do"
