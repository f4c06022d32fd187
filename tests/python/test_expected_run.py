"""Screen of `bench` before torch is imported: its facts, and the modules that it does without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fastrnns_rs.errors import MissingError
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.bench.expected_run import expected_facts, installed_torch

#: Modules that take longer to load than the screen to draw.
HEAVY = {
    *("asyncio", "importlib.metadata", "json", "numpy", "secrets", "shutil", "sqlite3", "subprocess"),
    *("tempfile", "torch", "traceback", "fastrnns_rs.processes.listener", "fastrnns_rs.verbs.bench.execution"),
}
#: Starts the command, and ends it when the screen is to be drawn.
UNTIL_THE_SCREEN = """
import os, sys
from fastrnns_rs.views.progress import Progress

def show(progress):
    print(progress.frame(80, 24), *sys.modules, sep="\\n", flush=True)
    os._exit(0)

Progress.__enter__ = show
from fastrnns_rs.cli import main
main(["bench", "cudnn", "--device", "cpu"])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone holds packages."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "torch").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "line", ["__version__ = '2.11.0+cu128'", '__version__: str = "2.11.0+cu128"', "__version__='2.11.0+cu128'"]
)
def test_the_version_is_that_which_torch_reads(line: str, folder: Path) -> None:
    (folder / "torch/__init__.py").write_text("raise AssertionError('torch must not be imported')")
    (folder / "torch/version.py").write_text(f"__all__ = ['__version__']\n{line}\ndebug = False\n")
    assert installed_torch() == "2.11.0+cu128"
    assert expected_facts("cpu", Setting()).torch_version == "2.11.0+cu128"


def test_a_folder_that_is_no_torch_has_no_version(folder: Path) -> None:
    assert installed_torch() is None
    (folder / "torch").rmdir()
    assert installed_torch() is None
    with pytest.raises(MissingError, match="torch is not installed"):
        expected_facts("cpu", Setting())


def test_the_first_screen_loads_few_modules(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNTIL_THE_SCREEN], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    screen, _, modules = done.stdout.partition("importing torch")
    assert "0 of 5" in screen
    assert not HEAVY.intersection(modules.split())


def test_a_device_number_beyond_every_machine_takes_no_memory() -> None:
    facts = expected_facts("cuda:99999999", Setting())
    assert facts.device is None
    assert len(facts.gpus) < 10_000
