"""Code of a runner that changes while a run goes on, or before it is resumed: samples are never of two programs."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from facts import FACTS
from pretended_workers import each, rising
from profile_commands import REPORTS, bad
from registered_runner import CODE, write_runner
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
from fastrnns_rs.runners.source_hash import source_sha256
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import Interrupted, execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.verbs.profile import capture_run


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return write_runner(tmp_path, monkeypatch)


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
