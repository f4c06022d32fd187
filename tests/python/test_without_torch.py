"""Commands that only read need no package but click, numpy and platformdirs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Done, finished
from conftest import ROOT
from kineto_traces import kernel
from kineto_traces import write as write_trace
from run_files import exactly, run, write

import fastrnns_rs

#: Imported as `sitecustomize` by the command and by each worker that it starts.
_BLOCK = """
import importlib.abc, sys

class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Block())
"""
#: Every dependency that commands which only read must do without, and what tests install.
_BLOCKED = {"diptest", "matplotlib", "pynvml", "ray", "ruptures", "scipy", "tabulate", "torch", "torchvision", "triton"}
_ALLOWED = ("click", "numpy", "platformdirs")
READING = {
    "list": ["list"],
    "doctor": ["doctor"],
    "report": ["report", "trace.json"],
    "show": ["show", "a.json"],
    "compare": ["compare", "a.json", "b.json"],
}
MEASURING = {
    "bench": ["bench", "--quick"],
    "ab": ["ab", "--quick", "cudnn", "py"],
    "verify": ["verify", "--rnns", "cudnn"],
    "inductor": ["inductor", "--runner", "compile_cell"],
    "profile": ["profile", "--torch", "--quick"],
}
STATS = (
    "from fastrnns_rs import stats; print(stats.summarize([3.1, 2.9, 3.0]).median, stats.median_ci([3, 1, 2, 4, 5, 6]))"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, a trace, and the module that blocks imports."""
    found = tmp_path_factory.mktemp("reading")
    for name, level in (("a", 1_000_000), ("b", 1_100_000)):
        write(found / f"{name}.json", run([exactly([level + step for step in range(0, 5000, 1000)])]))
    write_trace(found / "trace.json", [kernel("sgemm", 0, 10)])
    (found / "sitecustomize.py").write_text(f"BLOCKED = {_BLOCKED!r}\n{_BLOCK}")
    return found


def without_torch(folder: Path, *words: str) -> Done:
    return finished([sys.executable, "-m", "fastrnns_rs", *words], cwd=folder, PYTHONPATH=folder)


@pytest.mark.parametrize("verb", READING)
def test_reading_needs_no_torch(verb: str, folder: Path) -> None:
    done = without_torch(folder, *READING[verb])
    assert done.status == 0, done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr


def test_statistics_need_no_torch(folder: Path) -> None:
    done = finished([sys.executable, "-c", STATS], cwd=folder, PYTHONPATH=folder)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("3.0 ")


@pytest.mark.parametrize("verb", MEASURING)
def test_measuring_says_how_to_install_torch(verb: str, folder: Path) -> None:
    done = without_torch(folder, *MEASURING[verb])
    assert (done.status, done.stdout) == (5, "")
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert error.endswith(": 'torch'")
    assert hint.endswith(": pip install torch torchvision")


def other_pythons() -> list[Path]:
    """Supported interpreters of other versions that this machine has."""
    found: list[Path] = []
    for minor in range(11, 20):
        # A shim of pyenv is on the path even if its version is not selected.
        kept = [*(Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/python")]
        path = shutil.which(f"python3.{minor}")
        known = kept or [Path(one) for one in [path] if one and "shims" not in one]
        found += known[: minor != sys.version_info.minor]
    return found


@pytest.mark.long("setup")
@pytest.mark.parametrize("python", other_pythons() or [None], ids=str)
def test_other_versions_of_python_read(python: Path | None, folder: Path, tmp_path: Path) -> None:
    """The extension is the same for all, and Python 3.12 has faults of its own."""
    if python is None:
        pytest.skip("this machine has no other Python of a supported version")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    own = tmp_path / "venv" / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_ALLOWED], check=True)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "fastrnns_rs").symlink_to(Path(fastrnns_rs.__file__).parent)
    for words in READING.values():
        done = finished([own, "-m", "fastrnns_rs", *words], cwd=folder, PYTHONPATH=tmp_path / "package")
        assert (done.status, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.long("setup")
def test_a_fresh_environment_without_torch_reads(folder: Path, tmp_path: Path) -> None:
    """The README's command for it, in an environment of its own."""
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", ROOT], check=True)
    subprocess.run([*pip, *_ALLOWED], check=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def status(*words: str) -> int:
        command = [python, *words]
        return subprocess.run(command, cwd=folder, env=clean, capture_output=True, check=False).returncode

    assert status("-c", STATS) == 0
    assert {verb: status("-m", "fastrnns_rs", *words) for verb, words in READING.items()} == dict.fromkeys(READING, 0)
    found = {verb: status("-m", "fastrnns_rs", *words) for verb, words in MEASURING.items()}
    assert found == dict.fromkeys(MEASURING, 5)
