"""A runner gets the module path of its own file: what other files add to it stays in the process of the command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from commands import run_process

from fastrnns_rs.processes import module_path
from fastrnns_rs.processes.module_path import additions_noted, own_path
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.runner import Source

#: A file that imports a module from a folder of its own, which it adds as many scripts do.
FILE = """
import os, sys
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
import helper_of_two
from fastrnns_rs import ModelDef, runner
@runner("NAME")
def create(problem):
    import torch
    if os.path.dirname(helper_of_two.__file__) != FOLDER:
        raise RuntimeError(f"measured with {helper_of_two.__file__}")
    return ModelDef(inputs=[torch.ones(3)], params=[], forward=torch.neg)
"""


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The module path, which a test may change."""
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(module_path, "_known", None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield [*sys.path]
    sys.modules.pop("helper_of_two", None)
    sys.modules.pop("package_of_two.inner", None)
    sys.modules.pop("package_of_two", None)


def files(folder: Path) -> list[Path]:
    found = []
    for letter in "ab":
        (folder / letter / "lib").mkdir(parents=True)
        (folder / letter / "lib" / "helper_of_two.py").touch()
        found.append(folder / letter / f"{letter}.py")
        found[-1].write_text(FILE.replace("NAME", f"path_{letter}"))
    return found


def test_workers_get_the_path_without_additions(tmp_path: Path, path: list[str]) -> None:
    first, second = files(tmp_path)
    registry.load_file(str(first))
    assert str(first.parent / "lib") in sys.path
    registry.load_file(str(second))
    assert Setting().sys_path() == path
    # What the program adds meanwhile is for all workers.
    sys.path.append("/of/the/program")
    assert Setting().sys_path() == [*path, "/of/the/program"]
    registry.load_file(str(first))
    assert Setting().sys_path() == [*path, "/of/the/program"]


def test_a_folder_that_is_there_already_stays(path: list[str]) -> None:
    with additions_noted():
        sys.path.insert(0, path[-1])
    assert own_path() == path
    sys.path.append("/of/the/program")
    assert own_path() == [*path, "/of/the/program"]


def test_only_strings_are_a_path(path: list[str]) -> None:
    sys.path.insert(0, Path("/no/text"))  # type: ignore[arg-type]  # a usual mistake, which Python ignores
    assert own_path() == path


def test_a_runner_of_an_imported_module_is_found_by_the_file_that_imports_it(tmp_path: Path) -> None:
    package = tmp_path / "package_of_two"
    package.mkdir()
    (package / "__init__.py").write_text("WORD = 1\n")
    (package / "inner.py").write_text(
        "from . import WORD\nfrom fastrnns_rs import runner\n@runner('path_inner')\ndef create(problem): ...\n"
    )
    file = tmp_path / "main_of_two.py"
    file.write_text(
        "import package_of_two.inner\nfrom fastrnns_rs import runner\n@runner('path_own')\ndef own(problem): ...\n"
    )
    before = Setting().sys_path()
    registry.load_file(str(file))
    source = registry.find("path_inner").source
    assert (source.module, source.runner_file) == ("package_of_two.inner", str(file))
    # As in a worker.
    sys.path[:] = before or []
    for name in ("package_of_two.inner", "package_of_two"):
        del sys.modules[name]
    del registry._runners["path_inner"]
    assert registry.obtain("path_inner", Source(**asdict(source))).name == "path_inner"


def test_each_runner_is_measured_with_the_modules_of_its_file(tmp_path: Path) -> None:
    words = [word for file in files(tmp_path) for word in ("--runner-file", file)]
    counts = ("--quick", "--processes", "1", "--nloops", "3", "--warmup", "1", "--device", "cpu")
    done = run_process("bench", "path_a", "path_b", *words, *counts, "--json", "--no-history", cwd=tmp_path)
    assert [(one["status"], one["reason"]) for one in done.json()["results"]] == [("ok", None)] * 2
