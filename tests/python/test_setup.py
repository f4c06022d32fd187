"""`scripts/setup`: what it builds, and that an interrupted one continues."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = [pytest.mark.long("setup"), pytest.mark.alone]

#: The packages without which not even the command starts.
_FEW = 'dependencies = ["click", "numpy", "platformdirs"]'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the sources that depends on few packages, so that nothing large is fetched."""
    folder = tmp_path / "checkout"
    kept = ["Cargo.lock", "Cargo.toml", "LICENSE", "NOTICE", "README.md", "pyproject.toml"]
    folder.mkdir()
    for name in kept:
        shutil.copy(ROOT / name, folder)
    for name in ("benches", "python", "scripts", "src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    text = (folder / "pyproject.toml").read_text()
    text, count = re.subn(r"^dependencies = \[.*?^\]", _FEW, text, flags=re.DOTALL | re.MULTILINE)
    assert count == 1
    (folder / "pyproject.toml").write_text(text)
    return folder


def setup(checkout: Path, *extras: str) -> subprocess.Popen[str]:
    variables = {**os.environ, "PYTHON": sys.executable, "CARGO_TARGET_DIR": str(ROOT / "target" / "setup-tests")}
    command = [checkout / "scripts" / "setup", *extras]
    return subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finished(checkout: Path, *extras: str) -> str:
    process = setup(checkout, *extras)
    printed = process.communicate(timeout=1200)[1]
    assert process.returncode == 0, printed
    return printed


def version(checkout: Path) -> str:
    command = [checkout / ".venv" / "bin" / "fastrnns-rs", "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def members(wheel: Path) -> dict[str, int]:
    """The files of a wheel and their sizes; the list of their hashes differs with the extension's build identifier."""
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.file_size for one in archive.infolist() if not one.filename.endswith("RECORD")}


def test_it_builds_the_wheel_of_pip_install_once_for_all_extras(checkout: Path, tmp_path: Path) -> None:
    said = finished(checkout)
    assert "building the extension" in said
    assert "release build" in version(checkout)
    again = finished(checkout, "lint")
    assert "fetching" in again
    assert "building" not in again
    assert finished(checkout, "lint") == ""
    # A change of Python alone is packed again, and compiles nothing.
    (checkout / "python" / "fastrnns_rs" / "stats.py").touch()
    assert "building" in finished(checkout)
    assert "Compiling" not in (checkout / ".venv" / "setup.log").read_text()
    (ours,) = (checkout / "target" / "wheel").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path / "pip", checkout]
    subprocess.run(pip, check=True)
    (theirs,) = (tmp_path / "pip").glob("*.whl")
    assert ours.name == theirs.name
    assert members(ours) == members(theirs)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_setup_continues(number: signal.Signals, checkout: Path) -> None:
    for line in ("setup: making .venv", "setup: building the extension", "setup: fetching", "setup: waiting"):
        with setup(checkout) as process:
            assert process.stderr is not None
            # A step that is complete is not repeated.
            for printed in process.stderr:
                if printed.startswith(line):
                    break
            process.send_signal(number)
            process.wait(60)
    finished(checkout)
    assert "release build" in version(checkout)


def test_two_at_once_work_one_after_the_other(checkout: Path) -> None:
    with setup(checkout) as first:
        assert first.stderr is not None
        next(line for line in first.stderr if "fetching" in line)
        second = finished(checkout)
        assert first.wait(60) == 0
    assert "waiting for it" in second
    assert "fetching" not in second
    assert "building" not in second


def test_a_package_without_its_list_of_files_is_installed_again(checkout: Path) -> None:
    finished(checkout)
    site = next((checkout / ".venv" / "lib").glob("python*/site-packages"))
    (record,) = site.glob("click-*.dist-info/RECORD")
    record.unlink()
    shutil.rmtree(site / "click")
    (checkout / "pyproject.toml").touch()
    finished(checkout)
    assert "release build" in version(checkout)
