"""Examples of the docstrings of every public function and class are run, and the public names are those of the docs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import run_files
import screen_data
from conftest import ROOT
from generated_modules import Modules
from kineto_traces import kernel, write
from verb_documents import verified

import fastrnns_rs
from fastrnns_rs import models, stats
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.sweep import Sweep, SweepAxis, SweepCell
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.runners import registry
from fastrnns_rs.verbs.history.run_history import RunHistory

#: Functions of the extension, whose docstrings are in Rust.
OF_THE_EXTENSION = {"run_command", "Completed"}
#: Functions whose examples start processes that import torch.
LONG = {"ab", "bench", "profile", "verify"}
PUBLIC = sorted({name for name in fastrnns_rs.__all__ if not name.startswith("__")} - OF_THE_EXTENSION)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def sweep() -> Sweep:
    known = {"steps_per_second": None, "samples_per_second": None}
    cells = [
        SweepCell(runner="py", point={"hidden-size": size}, phase="forward", time_ns=1e6, **known) for size in (32, 64)
    ]
    return Sweep(axes=[SweepAxis(name="hidden-size", values=[32, 64])], cells=cells, growth=[])


@pytest.fixture
def folder(tmp_path: Path, history: RunHistory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the examples name."""
    before, after = screen_data.baseline(), screen_data.candidate()
    for one in (before, after):
        history.keep(one)
    before.save(tmp_path / "before.json")
    after.save(tmp_path / "after.json")
    replace(after, results=[run_files.summarised(run_files.exactly([1000, 1002]))], sweep=sweep()).save(
        tmp_path / "sweep.json"
    )
    Verification(ok=True, results=[verified("jit"), verified("py")]).save(tmp_path / "verification.json")
    InductorReport(warnings=[], environment=after.environment, modules=[]).save(tmp_path / "inductor.json")
    write(tmp_path / "trace.json", [kernel("ampere_sgemm_128x64_tn", 1, 3), kernel("scan", 5, 1)])
    stored = ROOT / "tests" / "data" / "documents" / "capture_1_1db5985.json"
    plain = json.loads(stored.read_text())
    (tmp_path / "capture.json").write_text(json.dumps({**plain, "runners": ["cudnn"]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _same_runners() -> Iterator[None]:
    """An example may register a runner."""
    registry.all_runners()
    before = dict(registry._runners)
    yield
    registry._runners.clear()
    registry._runners.update(before)


def run(name: str, one: Any) -> None:
    found = doctest.DocTestFinder(recurse=False).find(one, name, globs={})
    examples = [example for test in found for example in test.examples]
    assert examples, f"{name} has no example"
    said: list[str] = []
    for test in found:
        assert doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in LONG | {"inductor", "benchmark_modules"}])
def test_examples_run(name: str, folder: Path) -> None:
    one = getattr(fastrnns_rs, name)
    run(name, one)
    if inspect.isclass(one):
        for member, value in vars(one).items():
            if inspect.isfunction(value) and ">>>" in (value.__doc__ or ""):
                run(f"{name}.{member}", value)


def test_examples_of_other_modules_run() -> None:
    """Those that read no file. Public names have their examples above."""
    finder, count = doctest.DocTestFinder(exclude_empty=True), 0
    for path in sorted((ROOT / "python").rglob("*.py")):
        if ">>> " not in path.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module(".".join(path.relative_to(ROOT / "python").with_suffix("").parts))
        for test in finder.find(module):
            if test.examples and "fastrnns_rs" not in (test.docstring or ""):
                said: list[str] = []
                failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append).failed
                assert failed == 0, "".join(said)
                count += 1
    assert count > 30


@pytest.mark.long("docs")
@pytest.mark.parametrize("name", sorted(LONG))
def test_examples_that_measure_run(name: str, folder: Path) -> None:
    run(name, getattr(fastrnns_rs, name))


@pytest.mark.long("inductor")
def test_the_example_of_inductor_runs(
    folder: Path, generated_modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in generated_modules.variables.items():
        monkeypatch.setenv(name, value)
    shutil.copy(generated_modules.forward, folder / "module.py")
    from fastrnns_rs.api.modules import benchmark_modules, inductor

    assert benchmark_modules is inductor
    run("inductor", inductor)


@pytest.mark.parametrize("module", [fastrnns_rs, stats, models], ids=lambda one: one.__name__)
def test_every_public_name_has_a_docstring(module: ModuleType) -> None:
    for name in module.__all__:
        one = getattr(module, name)
        if not name.startswith("__"):
            assert (inspect.getdoc(one) or "").strip(), name
    assert len({*module.__all__}) == len(module.__all__)


def test_public_names_are_those_that_type_checkers_see() -> None:
    tree = ast.parse((ROOT / "python" / "fastrnns_rs" / "__init__.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    imported = {
        alias.asname or alias.name: f"{node.module}"
        for node in ast.walk(checked)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = {"models", "stats", "__version__"}
    assert {*fastrnns_rs.__all__} - modules == imported.keys() - {"Any"}
    for name, module in imported.items():
        if name != "Any":
            assert fastrnns_rs._HOME[name] == module.removeprefix("fastrnns_rs."), name


def pages() -> list[Path]:
    return [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]


def test_docs_import_public_names_only() -> None:
    public = {"fastrnns_rs": fastrnns_rs, "fastrnns_rs.stats": stats, "fastrnns_rs.models": models}
    public["fastrnns_rs.inductor"] = importlib.import_module("fastrnns_rs.inductor")
    seen = 0
    for page in pages():
        text = page.read_text()
        for module, names in re.findall(r"from (fastrnns_rs[\w.]*) import ([\w, ]+)", text):
            assert module in public, f"{page.name}: {module}"
            seen += 1
            for name in re.split(r", *", names.strip()):
                assert name in public[module].__all__, f"{page.name}: {module}.{name}"
        for dotted in re.findall(r"\bfastrnns_rs\.((?:\w+\.)*\w+)\(", text):
            head, *rest = dotted.split(".")
            assert head in fastrnns_rs.__all__, f"{page.name}: fastrnns_rs.{dotted}"
            if head in {"stats", "models"}:
                assert rest[0] in public[f"fastrnns_rs.{head}"].__all__, f"{page.name}: fastrnns_rs.{dotted}"
    assert seen > 5


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("report", r"; use fastrnns_rs.read\(path\).render\(\)"),
        ("show", r"; use fastrnns_rs.load\(name\).render\(\)"),
        ("doctor", "; use the command fastrnns-rs doctor"),
        ("list", "; use the command fastrnns-rs list"),
        ("banch", r"; did you mean 'bench'\?"),
        ("run", r"; did you mean 'Run'\?|; did you mean 'runner'\?"),
        ("_ipython_display_", "'$"),
        ("nothing_like_it", "'$"),
    ],
)
def test_names_that_there_are_not_name_the_right_way(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'?{hint}"):
        getattr(fastrnns_rs, name)


@pytest.mark.parametrize("name", models.__all__)
def test_parts_of_models_are_public(name: str) -> None:
    one = getattr(models, name)
    assert name in dir(models)
    assert (inspect.getdoc(one) or "").strip()
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = models.nothing


def test_the_example_of_the_models_runs() -> None:
    run("models", models)


def test_the_example_of_the_statistics_runs() -> None:
    run("stats", stats)
