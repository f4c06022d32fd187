"""Files of runners that import different modules of the same name."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from unittest.mock import Mock

import pytest
from commands import run_cli, run_pretended
from profile_commands import profile_cli

from fastrnns_rs import Problem
from fastrnns_rs.runners import registry
from fastrnns_rs.worker.jobs import verify

FILE = """
import json
from fastrnns_rs import runner
from helper import name
@runner(name, description=name + " by " + json.__name__, reference="mine_a")
def create(problem): raise NotImplementedError
"""


@pytest.fixture(params=["helper.py", "helper/__init__.py", "helper/inner.py"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Path]]:
    """Three files with a helper each, and with a file that hides no module, because it is imported already."""
    found = []
    for letter in "abc":
        helper = tmp_path / letter / request.param
        helper.parent.mkdir(parents=True)
        helper.write_text(f"name = 'mine_{letter}'\n")
        (tmp_path / letter / "json.py").touch()
        text = FILE.replace("helper", "helper.inner") if helper.name == "inner.py" else FILE
        found.append(tmp_path / letter / "runners.py")
        found[-1].write_text(text)
    yield found
    for name in [name for name in sys.modules if name.partition(".")[0] == "helper"]:
        del sys.modules[name]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runners and the path of this process are the same after the test."""
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    monkeypatch.setattr(registry, "_files", [])
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.mark.usefixtures("registered")
def test_each_file_that_is_loaded_imports_its_own(files: list[Path]) -> None:
    loaded = [registry.load_file(str(file)) for file in files]
    assert loaded == [["mine_a"], ["mine_b"], ["mine_c"]]
    assert registry.find("mine_c").description == "mine_c by json"
    assert sys.modules["json"] is json


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
