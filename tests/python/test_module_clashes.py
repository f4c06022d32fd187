"""Files of runners that import different modules of the same name."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from unittest.mock import Mock

import pytest
from commands import run_cli, run_pretended
from profile_commands import profile_cli

from fastrnns_rs import Problem
from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.module_clashes import check_clashes
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.worker.jobs import verify

FILE = """
import json
from fastrnns_rs import runner
import helper
@runner("NAME", reference="mine_a")
def create(problem): raise NotImplementedError
"""


def forget(name: str) -> None:
    """Forgets a module, also of a file of another test."""
    for one in [one for one in sys.modules if one.partition(".")[0] == name]:
        del sys.modules[one]


@pytest.fixture(params=["helper.py", "helper/__init__.py", "helper/inner.py"])
def files(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Three files with a helper each, and with a file that hides no module, because it is imported already."""
    forget("helper")
    # Files of other tests may have left their folders, in which a package would be hidden by a module.
    monkeypatch.setattr(sys, "path", [one for one in sys.path if not [*Path(one).glob("helper*")]])
    found = []
    for letter in "abc":
        helper = tmp_path / letter / request.param
        helper.parent.mkdir(parents=True)
        helper.touch()
        (tmp_path / letter / "json.py").touch()
        text = FILE.replace("NAME", f"mine_{letter}")
        text = text.replace("helper", "helper.inner") if helper.name == "inner.py" else text
        found.append(tmp_path / letter / "runners.py")
        found[-1].write_text(text)
    yield found
    forget("helper")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runners and the path of this process are the same after the test."""
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_one_capture_refuses_them(files: list[Path]) -> None:
    words = [word for file in files for word in ("--runner-file", file)]
    asked = [*words, "mine_a", "mine_b", "--torch", "--quick", "--device", "cpu"]
    message = f"error: two modules with the same name: 'helper': '{files[0]}' and '{files[1]}' import different modules"
    for more, hint in ((["--dry-run"], "Use --separate, or rename one"), (["--internal-run"], "Rename one")):
        done = profile_cli(*asked, *more)
        assert done.status == 2
        assert done.stderr.startswith(message)
        assert done.stderr.splitlines()[-1].startswith(f"hint: {hint}")
    done = profile_cli(*asked, "--dry-run", "--separate")
    assert (done.status, len(done.stdout.splitlines())) == (0, 2), done.stderr
    done = run_pretended("bench", *words, "mine_a", "mine_b", "--quick", "--no-history")
    assert done.status == 0, done.stderr
    assert run_cli("profile", *words[:2], "mine_a", "--torch", "--dry-run", "--quick").status == 0


@pytest.mark.usefixtures("registered")
def test_a_reference_that_imports_another_module_is_refused(files: list[Path]) -> None:
    def made(letter: str, file: Path) -> dict[str, object]:
        source = {"module": f"{registry.FILE_MODULE}runners", "file": str(file)}
        return {"runner": f"mine_{letter}", "source": source}

    problem = asdict(Problem(mini_batch=1))
    task = {**made("b", files[1]), "references": [made("a", files[0])], "problem": problem, "index": 0}
    channel = Mock()
    verify.answer({"threads": None, "tasks": [task]}, channel, Mock())
    assert "two modules with the same name: 'helper'" in channel.part.call_args.args[0]["row"]["reason"]


def source_of(folder: Path, text: str) -> Source:
    (folder / f"runs_{folder.name}.py").write_text(
        f"{text}\n@runner('clash_{folder.name}')\ndef create(problem): ...\n"
    )
    [name] = registry.load_file(str(folder / f"runs_{folder.name}.py"))
    return registry.find(name).source


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("linked", [False, True])
def test_a_module_with_a_name_of_the_standard_library_is_compared_too(linked: bool, tmp_path: Path) -> None:
    """The first file has imported its own. A link to it is the same module."""
    forget("this")
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
    (first / "this.py").touch()
    (second / "this.py").symlink_to(first / "this.py") if linked else (second / "this.py").touch()
    sources = [source_of(folder, "import this\nfrom fastrnns_rs import runner") for folder in (first, second)]
    with contextlib.nullcontext() if linked else pytest.raises(UsageError, match="with the same name: 'this'"):
        check_clashes(sources)
    forget("this")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["helper.py", "helper/__init__.py", "helper/part.py"])
@pytest.mark.parametrize("beside", ["a", "b"])
def test_a_module_on_the_search_path_is_compared_too(
    name: str, beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runner whose module is there used that beside another runner's file, or the other way round."""
    forget("helper")
    for place in (beside, "c"):
        (tmp_path / place / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place / name).touch()
    without = [one for one in sys.path if not [*Path(one).glob("helper*")]]
    monkeypatch.setattr(sys, "path", [str(tmp_path / "c"), *without])
    module = "helper.part" if name == "helper/part.py" else "helper"
    sources = []
    for letter in "ab":
        (tmp_path / letter).mkdir(exist_ok=True)
        sources.append(source_of(tmp_path / letter, f"import {module}\nfrom fastrnns_rs import runner"))
    # Folders without `__init__.py` are parts of one package.
    is_namespace = module == "helper.part"
    with contextlib.nullcontext() if is_namespace else pytest.raises(UsageError, match="with the same name: 'helper'"):
        check_clashes(sources)
    forget("helper")


@pytest.mark.usefixtures("registered")
def test_the_hint_for_a_file_that_finds_the_module_of_another_names_the_cause(tmp_path: Path) -> None:
    forget("helper")
    for letter in "ab":
        (tmp_path / letter).mkdir()
        (tmp_path / letter / "helper.py").write_text(f"name_{letter} = 1\n")
    source_of(tmp_path / "a", "from helper import name_a\nfrom fastrnns_rs import runner")
    with pytest.raises(UsageError) as caught:
        source_of(tmp_path / "b", "from helper import name_b\nfrom fastrnns_rs import runner")
    assert caught.value.hint.endswith("rename that module, or name each file in its own command.")
    forget("helper")
