"""Code of a runner that changes while a run goes on, or before it is resumed: samples are never of two programs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from dataclasses import replace
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from facts import FACTS
from pretended_workers import each, rising
from profile_commands import REPORTS, bad
from test_profile_baseline import runner, saying

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry, source_hash
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.runners.source_hash import source_sha256
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import Interrupted, execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.verbs.profile import capture_run

CODE = """
from fastrnns_rs import runner

@runner("mine")
def mine(problem):
    raise NotImplementedError
"""
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
    # What it registers ends with the test.
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    found = tmp_path / "mine.py"
    found.write_text(CODE)
    return found


def begin(file: Path) -> tuple[BenchPlan, Run]:
    registry.load_file(str(file))
    options = Options(choice=Choice(groups=(), names=["mine", "py"]), quick=True, device="cpu")
    plan = plan_bench(options, Effort(processes=3, order_seed=5), FACTS, Setting())
    return plan, new_run(plan, environment.describe(FACTS, Setting()), ["test"])


def change(file: Path) -> None:
    file.write_text(f"{CODE}    # other code\n")


class Workers:
    """Workers, one of which does something before it answers."""

    def __init__(self, at: int, event: Any) -> None:
        self._at, self._event = at, event
        self._answered = 0

    def __call__(self, job: dict[str, Any]) -> Answer:
        self._answered += 1
        if self._answered == self._at:
            self._event()
        return rising(job)


def test_a_runner_whose_code_changes_during_a_run_fails(file: Path) -> None:
    run = execute(*begin(file), executor=each(Workers(4, lambda: change(file))))
    assert run["mine"].status == "failed"
    assert str(run["mine"].reason).endswith(f"{file} or a module that it imports changed during the run")
    assert run["mine"].forward is None
    assert run["py"].status == "ok"


@pytest.mark.parametrize("what", ["a pipe", "nothing"])
def test_a_runner_whose_file_is_no_file_any_more_fails(what: str, file: Path) -> None:
    """The command waited for a writer of the pipe without end."""

    def replace_file() -> None:
        file.unlink()
        if what == "a pipe":
            os.mkfifo(file)

    run = execute(*begin(file), executor=each(Workers(4, replace_file)))
    assert str(run["mine"].reason).endswith(f"{file} or a module that it imports changed during the run")
    assert run["py"].status == "ok"


def test_a_run_of_other_code_is_not_resumed(file: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        execute(*begin(file), executor=each(Workers(5, interrupt)))
    part = stopped.value.run
    assert resumed(part, *begin(file))
    change(file)
    with pytest.raises(UsageError, match="cannot resume the run: the code of runner 'mine' has changed"):
        resumed(part, *begin(file))
    file.write_text(CODE)
    assert resumed(part, *begin(file))


def test_a_module_beside_the_file_is_code_of_the_runner(file: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    helper = file.with_name("helper_of_mine.py")
    helper.write_text("N = 1\n")
    file.write_text(CODE.replace("    raise", "    import helper_of_mine\n\n    raise"))
    run = execute(*begin(file), executor=each(Workers(4, lambda: helper.write_text("N = 2\n"))))
    assert (run["mine"].status, run["py"].status) == ("failed", "ok")
    with pytest.raises(Interrupted) as stopped:
        execute(*begin(file), executor=each(Workers(5, interrupt)))
    assert resumed(stopped.value.run, *begin(file))
    helper.write_text("N = 3\n")
    with pytest.raises(UsageError, match="the code of runner 'mine' has changed"):
        resumed(stopped.value.run, *begin(file))


def test_modules_are_those_on_the_search_path_of_the_worker(file: Path, tmp_path: Path) -> None:
    """The sides of an `ab` may have variables of their own."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    file.write_text(CODE.replace("    raise", "    import model_of_mine\n\n    raise"))
    models = [tmp_path / side / "model_of_mine.py" for side in ("a", "b")]
    for model in models:
        model.parent.mkdir()
        model.write_text(f"PLACE = {str(model)!r}\n")
    plan, run = begin(file)

    def of_side(model: Path) -> BenchPlan:
        setting = Setting(variables={"PYTHONPATH": str(model.parent)})
        return replace(plan, tasks=[replace(one, setting=setting) for one in plan.tasks])

    first, second = (of_side(model) for model in models)
    with pytest.raises(Interrupted) as stopped:
        execute(first, run, executor=each(Workers(5, interrupt)))
    part = stopped.value.run
    with pytest.raises(UsageError, match="the code of runner 'mine' has changed"):
        resumed(part, second, run)
    assert resumed(part, first, run)
    done = execute(first, run, executor=each(Workers(4, lambda: models[0].write_text(""))))
    assert (done["mine"].status, done["py"].status) == ("failed", "ok")


def edits(file: Path) -> str:
    """A command's statement that changes the code."""
    return f"open({str(file)!r}, 'a').write('# other code')"


def test_captures_are_of_one_program(file: Path, tmp_path: Path) -> None:
    """The code changes during the second capture, whose files are kept."""
    second = f"second = Path({str(tmp_path / 'second')!r}); second.exists() and {edits(file)}; second.touch()"
    given = [f"{REPORTS}; {second}", "--processes", "2", "--runner-file", file]
    error, hint = bad(tmp_path, *given, runners=("mine",))
    reason = f"the runner mine failed: {file} or a module that it imports changed during the run"
    assert error == reason
    assert hint.startswith("leave the code of the runner as it is until the end of the command; ")
    found = {record.ok: (record, path) for path in (tmp_path / "out").glob("*.json") for record in [Capture.load(path)]}
    assert {len(record.artefacts) for record, _ in found.values()} == {2}
    logged = {ok: f"# {reason}\n" in path.with_suffix(".log").read_text() for ok, (_, path) in found.items()}
    assert logged == {True: False, False: True}


@pytest.mark.parametrize(("under", "times"), [(True, [1000]), (False, [None])], ids=["under", "without"])
def test_times_of_two_programs_have_no_ratio(
    *, under: bool, times: list[int | None], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code changes in the process under the profiler, or in that without it."""
    real = capture_run.child_command
    baseline = f"import sys; {saying(runner('mine', 500, 500))}" + ("" if under else f"; {edits(file)}")

    def child(request: Any, plan: Any, stem: Path, answer: str | None) -> list[str]:
        return real(request, plan, stem, answer) if request.tool else [sys.executable, "-c", baseline, str(answer)]

    monkeypatch.setattr(capture_run, "child_command", child)
    profile = f"{REPORTS}; {edits(file)}" if under else REPORTS
    error, _ = bad(tmp_path, profile, "--unprofiled", "--runner-file", file, runners=("mine",))
    assert error.endswith(f"{file} or a module that it imports changed during the run")
    [record] = map(Capture.load, (tmp_path / "out").glob("*.json"))
    assert (record.ok, record.profiled_over_unprofiled, record.unprofiled_ns) == (False, None, times)


def test_cells_and_time_loops_are_code_of_the_runners_of_this_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(fastrnns_rs.__file__).parent
    for folder in ("models", "worker"):
        shutil.copytree(package / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    source = registry.find("jit").source
    known = source_sha256(source)
    monkeypatch.setattr(source_hash, "_PACKAGE", tmp_path)
    assert source_sha256(source) == known
    texts = [file.read_text() for file in (*tmp_path.glob("models/*.py"), tmp_path / "worker/recurrence.py")]
    imported = {name for text in texts for name in re.findall(r"from fastrnns_rs\.worker\.(\w+) import", text)}
    assert imported >= {"cells", "recurrence"}
    for name in (*imported, "turns"):
        file = tmp_path / "worker" / f"{name}.py"
        text = file.read_text()
        file.write_text(f"{text}# edited\n")
        assert (source_sha256(source) == known) == (name == "turns"), name
        file.write_text(text)
    assert source_sha256(source) == known


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
    looked = [len(name.split(".")) for name in source_hash._imports(source_hash._stamp(tmp_path, file))]
    assert (len(looked), max(looked, default=0)) in {(2000, 4), (0, 0)}
    assert source_sha256(Source(module="__main__", file=str(file))) is not None


def test_a_huge_file_beside_a_runner_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("if False:\n    import huge\n")
    (tmp_path / "huge.py").touch()
    os.truncate(tmp_path / "huge.py", source_hash._MOST_BYTES + 1)
    assert source_sha256(Source(module="__main__", file=str(file))) is None


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import pack.sub\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/pack").symlink_to(".")
    (tmp_path / "pack/sub.py").write_text("from .pack import sub\n")
    (tmp_path / "pack/none.py").symlink_to("none.py")
    assert source_sha256(Source(module="__main__", file=str(file))) is not None
