"""A standard output without a buffer: what does not fit on the disk is an error there too."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from run_files import exactly, run, write

from fastrnns_rs.documents.warning import make_warning

CAPTURE = ROOT / "tests" / "data" / "h100" / "cudnn.json.gz"
#: Less than the document.
_LIMIT = 8192


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT, _LIMIT))


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_document_that_is_cut_is_an_error(unbuffered: str, tmp_path: Path) -> None:
    """Python writes once, and ignores how much of it the system took."""
    command = [sys.executable, "-m", "fastrnns_rs", "report", str(CAPTURE), "--json"]
    variables = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with (tmp_path / "out.json").open("wb") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.PIPE, text=True, env=variables, preexec_fn=_limit, check=False
        )
    assert (tmp_path / "out.json").stat().st_size <= _LIMIT
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write: File too large\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["list"], ["report", str(CAPTURE)], ["report", str(CAPTURE), "--json"]])
def test_a_full_device_is_one_error(words: list[str], unbuffered: str) -> None:
    """Python would write the rest again when it ends, print another error, and exit with 120."""
    variables = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "fastrnns_rs", *words]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=variables, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write: No space left on device\n")
    assert "ignored" not in done.stderr


@pytest.mark.parametrize("verb", ["show", "compare"])
def test_warnings_that_nothing_takes_change_no_exit_code(verb: str, tmp_path: Path) -> None:
    """A log on a full disk made regressions and results an error."""
    path = tmp_path / "run.json"
    warning = make_warning("machine_busy")
    write(path, replace(run([exactly([1000, 1100, 1200])]), warnings=[warning]))
    command = [sys.executable, "-m", "fastrnns_rs", verb, *[str(path)] * (1 if verb == "show" else 2)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, check=False)
    assert done.returncode == 0
    assert done.stdout


def test_lines_of_a_stream_without_a_buffer_come_at_once() -> None:
    command = [sys.executable, "-u", "-m", "fastrnns_rs", "report", str(CAPTURE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cudnn.json.gz: torch.profiler trace")
    assert done.stdout == subprocess.run([command[0], *command[2:]], capture_output=True, text=True, check=True).stdout
