"""Sweeps from the plan to the tables; workers are pretended, and one sweep is real."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import FACTS, TINY, run_cli
from pretended_workers import each, measured
from run_files import write

from fastrnns_rs import compare
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.sweep_findings import summarize_sweep
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.problem.sweep.axes import parse_axes
from fastrnns_rs.problem.sweep.conditions import parse_conditions
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import execute
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.views.run import run_details, run_head


def worker(job: dict[str, Any]) -> Answer:
    """Time is hidden_size squared in nanoseconds, for all but `cudnn` at least 10,000; float64 takes twice that."""
    problem = job["problem"]
    level = (problem["hidden_size"] or 100) ** 2 * (2 if problem["dtype"] == "float64" else 1)
    level = level if job["runner"] == "cudnn" else max(10_000, level)
    return measured([level] * 20, [3 * level] * 20 if problem["mode"] == "train" else None, steady_from=5)


def begin(*axes: str, runners: Any = ("cudnn", "py"), filters: Any = (), **options: Any) -> tuple[BenchPlan, Run]:
    choice = options.pop("choice", Choice(groups=(), names=runners))
    made = Options(choice=choice, quick=True, axes=parse_axes(axes), filters=parse_conditions(filters), **options)
    plan = plan_bench(made, Effort(order_seed=5, processes=3), FACTS, Setting())
    return plan, new_run(plan, environment.describe(FACTS, Setting()), ["test"])


@pytest.fixture
def swept() -> Run:
    return execute(*begin("hidden-size=50,100,200,400", "dtype=float32,float64"), executor=each(worker))


def test_each_runner_is_measured_at_each_point(swept: Run) -> None:
    assert len(swept.results) == 16
    assert [one.title for one in swept.results[:3]] == [
        "cudnn[hidden-size=50,dtype=float32]",
        "cudnn[hidden-size=50,dtype=float64]",
        "cudnn[hidden-size=100,dtype=float32]",
    ]
    assert all(one.problem.hidden_size == one.point["hidden-size"] for one in swept.results)
    assert [(axis.name, axis.values) for axis in swept.plan.axes] == [
        ("hidden-size", [50, 100, 200, 400]),
        ("dtype", ["float32", "float64"]),
    ]
    with pytest.raises(KeyError, match="'cudnn' names 8 rows: "):
        swept["cudnn"]
    assert swept[swept.results[0].title] is swept.results[0]
    assert swept["py[hidden-size=400,dtype=float64]"] is swept.results[-1]
    assert swept.find_results("py", hidden_size=400, dtype="float64") == [swept.results[-1]]
    with pytest.raises(UsageError, match="no problem has a hiddensize"):
        swept.find_results("py", hiddensize=1)
    assert Run.from_dict(swept.to_dict()) == swept


def test_rates_are_of_a_whole_iteration(swept: Run) -> None:
    assert swept.sweep is not None
    first = next(one for one in swept.sweep.cells if one.phase == "iteration")
    problem = swept.results[0].problem
    assert first.time_ns == 4 * 50**2
    assert first.samples_per_second == pytest.approx(problem.mini_batch / (4 * 50**2 * 1e-9))
    assert first.steps_per_second == pytest.approx(problem.mini_batch * problem.sizes()[0] / (4 * 50**2 * 1e-9))


def test_growth_is_found_where_there_is_one_exponent(swept: Run) -> None:
    assert swept.sweep is not None
    found = {(one.runner, one.phase, one.at["dtype"]): one for one in swept.sweep.growth}
    assert len(found) == 8
    assert found["cudnn", "backward", "float64"].exponent == pytest.approx(2.0, rel=1e-9)
    assert found["cudnn", "backward", "float64"].straight is True
    flat = found["py", "forward", "float32"]
    assert flat.straight is False
    assert flat.local_exponents == pytest.approx([0.0, 2.0, 2.0])


def test_every_format_tells_points_apart(swept: Run) -> None:
    means = json.loads(swept.render("oss"))
    assert len(means["lstm"]) == 16
    assert means["lstm"]["cudnn[hidden-size=100,dtype=float64]"] == pytest.approx(0.02)
    assert '"lstm-cudnn[hidden-size=100,dtype=float64]"' in swept.render("pep")
    assert len({tuple(line.split(",")[:16]) for line in swept.render("csv").splitlines()}) == 33
    page = swept.render("markdown").splitlines()
    assert len({line.split("|")[1] for line in page if "cudnn[" in line}) == 8
    # A note that all of a dtype need is said once.
    assert len([line for line in page if line.startswith("- `cudnn`: ")]) == 2
    details = [line.text.split()[0] for line in run_details.lines(swept, 120)]
    assert "cudnn[hidden-size=50,dtype=float32]/forward" in details


def test_sweeps_are_compared_point_by_point(swept: Run) -> None:
    other = replace(swept, run_id="11111111-0000-4000-8000-000000000000")
    found = compare(swept, other)
    assert len(found.rows) == 32
    assert all(row.baseline is not None and row.candidate is not None for row in found.rows)
    points = {(row.problem.hidden_size, row.problem.dtype) for row in found.rows}
    assert (400, "float64") in points
    assert len(points) == 8


def test_a_run_without_axes_is_as_before() -> None:
    run = execute(*begin(), executor=each(worker))
    assert run.sweep is None
    assert run["cudnn"].point == {}
    assert run["cudnn"].title == "cudnn"


def test_what_no_axis_concerns_is_measured_once() -> None:
    plan, run = begin("hidden-size=2,4", choice=Choice(groups=("cnns",), names=("cudnn",)))
    labels = [task.label for task in plan.tasks]
    assert labels.count("resnet18") == 1
    assert labels[-2:] == ["cudnn[hidden-size=2]", "cudnn[hidden-size=4]"]
    context = "\n".join(line.text for line in run_head.lines(run, {}, 200))
    assert "hidden 2/4" in context
    with pytest.raises(UsageError, match="'resnet18' does not use hidden-size"):
        begin("hidden-size=2,4", runners=("resnet18",))


def test_a_point_that_a_runner_cannot_honour() -> None:
    plan, _ = begin("num-layers=1,2", choice=Choice(groups=("rnns",)))
    refused = [task.label for task in plan.tasks if task.refusal]
    assert refused
    assert all("num-layers=" in one for one in refused)
    with pytest.raises(UsageError, match="supports 1 layer, not 2"):
        begin("num-layers=1,2", runners=(refused[0].partition("[")[0],))


def test_filtered_rows_are_not_measured() -> None:
    plan, _ = begin("hidden-size=2,4,8", filters=["hidden-size>=4", "runner~cud"])
    assert [task.label for task in plan.tasks] == ["cudnn[hidden-size=4]", "cudnn[hidden-size=8]"]
    with pytest.raises(UsageError, match="'hidden-size>9'"):
        begin("hidden-size=2,4", filters="hidden-size>9")


def test_an_axis_that_is_given_too_is_refused() -> None:
    with pytest.raises(UsageError, match="`hidden_size` is an axis"):
        begin("hidden-size=2,4", sizes=Sizes(hidden_size=8))
    with pytest.raises(UsageError, match="`dtype` is an axis"):
        begin("dtype=float32,float64", dtype="float64")


def test_the_time_of_a_default_run_is_shared_by_all_points() -> None:
    def seconds(*axes: str) -> float:
        options = Options(choice=Choice(groups=(), names=("cudnn",)), axes=parse_axes(axes))
        return plan_bench(options, Effort(), FACTS, Setting()).loop.seconds

    assert seconds("hidden-size=1:200:1") < seconds()


def test_a_sweep_goes_on_if_its_axes_are_the_same() -> None:
    plan, run = begin("hidden-size=2,4,8")
    half = replace(execute(plan, run, executor=each(worker)), status="interrupted")
    half = replace(half, results=half.results[:2], sweep=None)
    again, fresh = begin("hidden-size=2,4,8")
    done = execute(*resumed(half, again, fresh), executor=each(worker))
    assert [one.title for one in done.results] == [task.label for task in plan.tasks]
    assert done.sweep is not None
    other, fresh = begin("hidden-size=2,4,16")
    with pytest.raises(UsageError, match=r"axes\[0\].values\[2\] was 8 and is 16 now"):
        resumed(half, other, fresh)


def test_a_sweep_that_goes_on_has_no_findings_before_its_end() -> None:
    """Those of its first processes would contradict the others."""
    plan, run = begin("hidden-size=2,4,8")
    half = replace(execute(plan, run, executor=each(worker)), status="interrupted")
    half = replace(half, results=half.results[:2])
    half = replace(half, sweep=summarize_sweep(half.plan.axes, half.results))
    saved: list[Run] = []
    execute(*resumed(half, *begin("hidden-size=2,4,8")), executor=each(worker), save=saved.append)
    assert [one.sweep is None for one in saved] == [True] * (len(saved) - 1) + [False]


def test_cells_and_exponents_are_those_of_the_processes(swept: Run) -> None:
    assert swept.sweep is not None
    first, *others = swept.sweep.cells
    law = swept.sweep.growth[0]
    elsewhere = replace(first, point={"hidden-size": 51, "dtype": "float32"})
    for changes, message in (
        ({"cells": [elsewhere, *others]}, "sweep.cells[0] is 'cudnn[hidden-size=51,dtype=float32]/fo"),
        ({"cells": [replace(first, runner="jit"), *others]}, "sweep.cells[0] is 'jit["),
        ({"cells": [*swept.sweep.cells, first]}, "duplicate value: sweep.cells[48]"),
        ({"cells": swept.sweep.cells[:3]}, "results[1] has no cell in sweep.cells"),
        (
            {"growth": [replace(law, exponent=2.1, ci_high=2.2, local_exponents=[])]},
            "sweep.growth[0].exponent is 2.1, ",
        ),
        ({"growth": [replace(law, ci_low=0.0)]}, "sweep.growth[0].ci_low is 0, and that of the results is "),
        ({"growth": [replace(law, local_exponents=[2.0])]}, "sweep.growth[0].local_exponents has length 1, "),
        ({"growth": [replace(law, axis="dtype")]}, "sweep.growth[0].exponent is 2, and the results have none"),
    ):
        plain = replace(swept, sweep=replace(swept.sweep, **changes)).to_dict()
        with pytest.raises(UsageError) as raised:
            Run.from_dict(plain)
        assert raised.value.message.startswith(message)
    # Earlier builds left the sweep of an interrupted run as it was.
    Run.from_dict(replace(swept, status="interrupted", sweep=replace(swept.sweep, cells=[first], growth=[])).to_dict())


def test_show_filters_and_sorts(swept: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", swept)
    done = run_cli("show", path, "--filter", "dtype=float64", "hidden-size>=100", "--sort", "-forward")
    assert done.status == 0, done.stderr
    rows = [line.split()[0] for line in done.stdout.splitlines() if "dtype=float64] " in line]
    assert rows[:2] == ["cudnn[hidden-size=400,dtype=float64]", "py[hidden-size=400,dtype=float64]"]
    assert len(rows) == 6
    assert "at dtype=float32" not in done.stdout
    assert "exponent b of time ~ hidden-size^b" in done.stdout
    refused = run_cli("show", path, "--filter", "hidden-size>999")
    assert (refused.status, refused.stdout) == (2, "")
    assert "'hidden-size>999' (--filter)" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--axis"], "'' (--axis)"),
        (["--axis", "hidden-size=1,2", "--hiddenSize", "8"], "--hidden-size is an axis"),
        (["--axis", "dtype=float32,float64", "--dtype", "float32"], "--dtype is an axis"),
        (["--filter", "hiden-size=1"], "Run: fastrnns-rs bench --group rnns --filter hidden-size=1"),
        (["--sort", "forwrd"], "Run: fastrnns-rs bench --group rnns --sort forward"),
    ],
)
def test_the_command_refuses_in_one_line(words: list[str], message: str, anywhere: Path) -> None:
    done = run_cli("bench", "--group", "rnns", *words, cwd=anywhere)
    assert done.status == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long("bench")
def test_a_real_sweep(anywhere: Path) -> None:
    size = TINY.index("--seqLength")
    words = [*TINY[:size], *TINY[size + 2 :], "--quick", "--processes", "1", "--warmup", "1", "--nloops", "3"]
    chosen = ["--group", "rnns", "--rnns", "cudnn", "--axis", "seq-length=2,3,4", "--format", "table"]
    done = run_cli("bench", *chosen, *words, "--run-file", "run.json", cwd=anywhere)
    assert done.status == 0, done.stderr
    assert done.stdout.count("cudnn[seq-length=") >= 3
    assert "exponent b of time ~ seq-length^b" in done.stdout
    assert "sequence steps per second" in done.stdout
    run = Run.load(anywhere / "run.json")
    assert [one.problem.seq_length for one in run.results] == [2, 3, 4]
    assert run.sweep is not None
    assert run.sweep.growth[0].ci_method == "t_residuals"
