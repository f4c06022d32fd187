"""Files of a runner's code: every module that a worker imports, and no other."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest
from registered_runner import CODE, write_runner

from fastrnns_rs.runners import imported_files, registry
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.runners.source_hash import source_sha256

#: Modules beside a runner's file.
MODULES = {
    "helper.py": "import mine, other, json\nN = 1\n",
    "other.py": "import helper, helper\n",
    "broken.py": "def (\n",
    "pack/__init__.py": "",
    "pack/sub.py": "def late():\n    from . import near\n",
    "pack/near.py": "from .deep.er import x\n",
    "pack/deep/er.py": "from ..far import y\nfrom ....... import z\nx = y\n",
    "pack/far.py": "import pack.near\nimport helper\ny = 1\n",
    "unused.py": "",
}
DEEP = {"pack/__init__.py", "pack/sub.py", "pack/near.py", "pack/deep/er.py", "pack/far.py"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return write_runner(tmp_path, monkeypatch)


def write_modules(folder: Path) -> None:
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def covered(source: Source, folder: Path) -> set[str]:
    """Modules without which, or with other content, the hash is another."""
    found = set()
    known = source_sha256(source)
    assert known is not None
    for name, text in MODULES.items():
        (folder / name).write_text(f"{text}# edited\n")
        if source_sha256(source) != known:
            found.add(name)
            (folder / name).unlink()
            assert source_sha256(source) != known
        (folder / name).write_text(text)
        assert source_sha256(source) == known
    return found


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import os, torch.nn", set()),
        ("import helper", {"helper.py", "other.py"}),
        ("def late():\n    from helper import N", {"helper.py", "other.py"}),
        ("import broken", {"broken.py"}),
        ("import pack.none, " + "long" * 100, {"pack/__init__.py"}),
        ("from pack.sub import late", {*DEEP, "helper.py", "other.py"}),
        ("from pack import sub", {*DEEP, "helper.py", "other.py"}),
        ("import importlib\nimportlib.import_module('helper')", set()),
        ("import helper\ndef (", set()),
        ("import helper\nx = '\\d'", {"helper.py", "other.py"}),
    ],
)
def test_modules_are_found_as_they_are_imported(code: str, modules: set[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code)
    write_modules(tmp_path)
    assert covered(Source(module="__main__", file=str(file)), tmp_path) == modules
    if not modules:
        expected = hashlib.sha256(b"mine.py\0" + code.encode() + b"\0").hexdigest()
        assert source_sha256(Source(module="__main__", file=str(file))) == expected


@pytest.mark.parametrize("package", ["extra 1.0", None])
def test_the_code_of_a_package_is_all_below_its_name(package: str | None, tmp_path: Path) -> None:
    root = tmp_path / ("src" if package else "site-packages")
    root.mkdir()
    write_modules(root)
    own = Source(module="pack.sub", file=str(root / "pack/sub.py"), package=package, plugin=package and "pack.sub")
    assert covered(own, root) == DEEP
    alone = Source(module="helper", file=str(root / "helper.py"), package=package)
    assert covered(alone, root) == {"helper.py"}


def test_what_others_put_beside_a_file_is_no_code_of_it(file: Path, tmp_path: Path) -> None:
    write_modules(tmp_path)
    file.write_text(f"{CODE}    import helper\n")
    registry.load_file(str(file))
    source = registry.all_runners()["mine"].source
    assert covered(source, tmp_path) == {"helper.py", "other.py"}
    tmp_path.chmod(0o1777)
    assert covered(source, tmp_path) == set()


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import helper", {"helper.py", "other.py"}),
        ("from pack.sub import late", {*DEEP, "helper.py", "other.py"}),
        ("import os, torch, fastrnns_rs", set()),
    ],
)
def test_a_module_on_the_search_path_is_code_of_the_runner(
    code: str, modules: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions of two models in `src/` counted as measurements of one."""
    root, file = tmp_path / "src", tmp_path / "mine.py"
    root.mkdir()
    write_modules(root)
    file.write_text(code)
    source = Source(module="__main__", file=str(file))
    assert covered(source, root) == set()
    monkeypatch.syspath_prepend(root)
    assert covered(source, root) == modules
    known = source_sha256(source)
    for name in ("os", "torch", "fastrnns_rs"):
        (root / f"{name}.py").write_text("")
    assert source_sha256(source) == known
    # What lies beside the file is imported first.
    (tmp_path / "helper.py").write_text("")
    assert "other.py" not in covered(source, root)


@pytest.mark.parametrize("line", ["sys.path.insert(0, {0!r})", "sys.path.append({0!r})", "{0!r} in sys.path"])
def test_a_folder_that_the_file_adds_to_the_search_path_holds_code_of_the_runner(
    line: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes in it were not noticed, and a run file could replace the model."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    root = tmp_path / "src"
    root.mkdir()
    write_modules(root)
    file.write_text(f"import sys\n{line.format(str(root))}\n{CODE}    import helper\n")
    registry.load_file(str(file))
    source = registry.all_runners()["mine"].source
    assert covered(source, root) == (set() if " in " in line else {"helper.py", "other.py"})
    # The folder in front of the path comes before that of the file.
    (tmp_path / "helper.py").write_text("")
    assert covered(source, root) == ({"helper.py", "other.py"} if "insert" in line else set())


@pytest.mark.parametrize("line", ["", "sys.path.remove(HERE)", "sys.path.remove(HERE); sys.path.append(HERE)"])
def test_a_file_may_take_its_folder_off_the_search_path(
    line: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module beside it was its code, in place of the one that is imported."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    file.write_text(f"import sys\nHERE = {str(tmp_path)!r}\n{line}\n{CODE}    import helper\n")
    registry.load_file(str(file))
    source = registry.all_runners()["mine"].source
    root = tmp_path / "src"
    root.mkdir()
    for folder in (tmp_path, root):
        (folder / "helper.py").write_text("")
    known = source_sha256(source, [str(root)])
    (root / "helper.py").write_text("# edited")
    assert (source_sha256(source, [str(root)]) == known) == (not line)


def test_a_package_comes_before_a_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without `__init__.py` beside the file hid the package that is imported."""
    root, file = tmp_path / "src", tmp_path / "mine.py"
    root.mkdir()
    write_modules(root)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/sub.py").write_text("")
    file.write_text("import pack.sub")
    monkeypatch.syspath_prepend(root)
    source = Source(module="__main__", file=str(file))
    assert covered(source, root) == {*DEEP, "helper.py", "other.py"}
    known = source_sha256(source)
    (tmp_path / "pack/sub.py").write_text("# edited")
    assert source_sha256(source) == known


@pytest.mark.parametrize(("folder", "modules"), [("src", {"helper.py", "other.py"}), ("site-packages", set())])
def test_a_module_of_an_editable_package_is_code_of_the_runner(
    folder: str, modules: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, file = tmp_path / folder, tmp_path / "mine.py"
    root.mkdir()
    write_modules(root)
    file.write_text("import helper")

    class Finder:
        @staticmethod
        def find_spec(name: str, _path: object = None, _target: object = None) -> object:
            place = root / f"{name}.py"
            return spec_from_file_location(name, place) if place.is_file() else None

    Finder.__module__ = "__editable___helper_0_1_finder"
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert covered(Source(module="__main__", file=str(file)), root) == modules


def test_a_hash_has_a_limited_number_of_files(tmp_path: Path) -> None:
    names = [f"m{number:03}" for number in range(600)]
    for name in names:
        (tmp_path / f"{name}.py").write_text("")
    file = tmp_path / "mine.py"
    file.write_text(f"import {', '.join(reversed(names))}\n")
    source = Source(module="__main__", file=str(file))
    known = source_sha256(source)
    (tmp_path / "m499.py").write_text("# edited\n")
    assert source_sha256(source) == known
    (tmp_path / "m498.py").write_text("# edited\n")
    assert source_sha256(source) != known


@pytest.mark.parametrize(
    "code",
    [
        "\n".join(f"import m{number}.a.b.c" for number in range(100_000)),
        f"import {'.'.join(f'a{number}' for number in range(20_000))}",
    ],
)
def test_generated_imports_cost_no_minute(code: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code)
    looked = [len(name.split(".")) for name in imported_files._imports(imported_files.make_stamp(tmp_path, file))]
    assert (len(looked), max(looked, default=0)) in {(2000, 4), (0, 0)}
    assert source_sha256(Source(module="__main__", file=str(file))) is not None


def test_a_huge_file_beside_a_runner_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("if False:\n    import huge\n")
    (tmp_path / "huge.py").touch()
    os.truncate(tmp_path / "huge.py", imported_files.MOST_BYTES + 1)
    assert source_sha256(Source(module="__main__", file=str(file))) is None


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import pack.sub\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/pack").symlink_to(".")
    (tmp_path / "pack/sub.py").write_text("from .pack import sub\n")
    (tmp_path / "pack/none.py").symlink_to("none.py")
    assert source_sha256(Source(module="__main__", file=str(file))) is not None
