"""Files of runners that import different modules of the same name."""

from __future__ import annotations

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
from fastrnns_rs.runners import module_clashes, registry
from fastrnns_rs.runners.module_clashes import check_clashes
from fastrnns_rs.worker.jobs import verify

FILE = """
import json
from fastrnns_rs import runner
from helper import NAME
@runner("NAME", reference="mine_a")
def create(problem): raise NotImplementedError
"""


def forget(*names: str) -> None:
    """Forgets modules, also those that a file of another test has imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]


@pytest.fixture(params=["helper.py", "helper/__init__.py", "helper/inner.py"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Path]]:
    """Three files with a helper each, and with a file that hides no module, because it is imported already."""
    forget("helper")
    found = []
    for letter in "abc":
        helper = tmp_path / letter / request.param
        helper.parent.mkdir(parents=True)
        helper.write_text(f"mine_{letter} = 1\n")
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
    monkeypatch.setattr(registry, "file_folders", [])
    monkeypatch.setattr(registry, "modules_before", set())
    for name in ("file_folders", "modules_before"):
        monkeypatch.setattr(module_clashes, name, getattr(registry, name))
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.mark.usefixtures("registered")
def test_each_file_imports_its_own(files: list[Path]) -> None:
    """Each file fails with the module of another."""
    assert [registry.load_file(str(file)) for file in files] == [["mine_a"], ["mine_b"], ["mine_c"]]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("own", [["a", "b"], ["a"], ["b"]])
def test_a_name_of_the_standard_library_is_compared_too(own: list[str], tmp_path: Path) -> None:
    """What the files themselves have imported is not known to be that of the library."""
    forget("this")
    sources = []
    for letter in "ab":
        (tmp_path / letter).mkdir()
        if letter in own:
            (tmp_path / letter / "this.py").touch()
        file = tmp_path / letter / f"runs_{letter}.py"
        file.write_text(
            f"import this\nfrom fastrnns_rs import runner\n@runner('std_{letter}')\ndef create(problem): ..."
        )
        [name] = registry.load_file(str(file))
        sources.append(registry.find(name).source)
    with pytest.raises(UsageError, match="two modules with the same name: 'this'"):
        check_clashes(sources)
    forget("this")


@pytest.mark.usefixtures("registered")
def test_a_runner_of_a_helper_finds_what_lies_beside_it(tmp_path: Path) -> None:
    """The helper can only be imported because a file beside it was loaded."""
    runner = "from fastrnns_rs import runner\n@runner('{0}')\ndef create(problem): ...\n"
    (tmp_path / "util_c.py").touch()
    (tmp_path / "helper_c.py").write_text("import util_c\n" + runner.format("in_helper"))
    (tmp_path / "main_c.py").write_text("import helper_c, util_c\n" + runner.format("in_main"))
    registry.load_file(str(tmp_path / "main_c.py"))
    check_clashes([registry.find(name).source for name in ("in_main", "in_helper")])
    forget("helper_c", "util_c")


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


def load(file: Path, code: str) -> str:
    """Loads a file, and returns the description of its runner."""
    file.parent.mkdir(exist_ok=True)
    text = (
        f"from fastrnns_rs import runner\n{code}\n@runner({file.stem!r}, description=found)\ndef create(problem): ..."
    )
    file.write_text(text)
    [name] = registry.load_file(str(file))
    return registry.find(name).description


@pytest.fixture
def installed(tmp_path: Path, registered: None) -> Iterator[Path]:
    """A folder of the module path with a module and with a part of a namespace package."""
    (tmp_path / "installed" / "spread_name").mkdir(parents=True)
    (tmp_path / "installed" / "common_name.py").write_text("found = 'installed'")
    (tmp_path / "installed" / "spread_name" / "outer.py").write_text("found = 'installed'")
    sys.path.append(str(tmp_path / "installed"))
    yield tmp_path
    forget("common_name", "spread_name")


@pytest.mark.parametrize("order", [["mine", "other"], ["other", "mine"]])
def test_an_installed_module_is_not_that_beside_another_file(installed: Path, order: list[str]) -> None:
    (installed / "mine").mkdir()
    (installed / "mine" / "common_name.py").write_text("found = 'mine'")
    for name in order:
        load(installed / name / f"{name}.py", "from common_name import found")
    sources = [registry.find(name).source for name in order]
    with pytest.raises(UsageError, match="two modules with the same name: 'common_name'"):
        check_clashes(sources)


def test_one_module_with_two_names_is_no_clash(installed: Path) -> None:
    for folder in ("mine", "other"):
        (installed / folder).mkdir()
        (installed / folder / "json.py").write_text("raise ValueError")
    (installed / "mine" / "common_name.py").write_text("found = 'mine'")
    (installed / "other" / "common_name.py").symlink_to(installed / "mine" / "common_name.py")
    for folder in ("mine", "other"):
        assert load(installed / folder / f"in_{folder}.py", "import json\nfrom common_name import found") == "mine"
    check_clashes([registry.find(name).source for name in ("in_mine", "in_other")])


def test_parts_of_a_namespace_package_are_no_clash(installed: Path) -> None:
    (installed / "mine" / "spread_name").mkdir(parents=True)
    (installed / "mine" / "spread_name" / "inner.py").write_text("found = 'mine'")
    code = "from spread_name.outer import found\nfrom spread_name.inner import found"
    assert load(installed / "mine" / "inside.py", code) == "mine"
    assert load(installed / "other" / "outside.py", "from spread_name.outer import found") == "installed"
    check_clashes([registry.find(name).source for name in ("inside", "outside")])
