"""Code of a runner that changes while a run goes on, or before it is resumed: samples are never of two programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from facts import FACTS
from pretended_workers import each, rising

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import Interrupted, execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run

CODE = """
from fastrnns_rs import runner

@runner("mine")
def mine(problem):
    raise NotImplementedError
"""


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
    assert str(run["mine"].reason).endswith(f"{file} changed during the run")
    assert run["mine"].forward is None
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
