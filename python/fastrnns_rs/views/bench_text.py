"""Lines around the table of `bench`: run description, stop reason, warnings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.stats import quantiles
from fastrnns_rs.views.run.run_table import name

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan

_ENDS = {
    "count": "every process ran its number of iterations",
    "time": "every process had its time, or as many iterations as it may",
    "precision": "the precision was reached",
    "interrupt": "it was interrupted",
}


def about(run: Run, plan: BenchPlan) -> Iterator[str]:
    """Yields the lines that describe the run: contents, amount, estimated duration."""
    where = plan.tasks[0].problem
    number = int(where.device.partition(":")[2] or 0)
    gpu = f" ({run.environment.gpus[number].name})" if where.device.startswith("cuda") else ""
    order = "side by side" if plan.side_by_side else "one by one"
    device = f"{', '.join(plan.devices)} {order}" if plan.devices else f"{where.device}{gpu}"
    dtypes = ", ".join(dict.fromkeys(task.problem.dtype for task in plan.tasks))
    yield (
        f"{_rows(plan)} on {device}, {dtypes}, "
        f"torch {run.environment.torch_version}, {_count(run.environment.num_threads, 'thread')}"
    )
    if run.ranks:
        yield f"{_count(len(run.ranks), 'rank')}, which measure at the same time"
    name, description = plan.preset
    yield f"preset {name} for what was not given ({description})"
    yield f"{_amount(plan)}; the order is shuffled by the seed {plan.order_seed}"
    for axis in plan.axes:
        yield f"axis {axis.name}: {', '.join(map(str, axis.values))}"
    if plan.axes and (once := [task.label for task in plan.tasks if not task.point]):
        yield f"note: no axis concerns {visible(', '.join(once))}: measured once"
    if modes := _modes(plan):
        yield modes
    for family, sizes in _sizes(plan).items():
        yield f"{visible(family)}: {sizes}"


def _amount(plan: BenchPlan) -> str:
    """Returns the process count, the work of each process and the estimated duration."""
    loop, rule = plan.loop, plan.rule
    warmup = "the warm-up that is detected" if loop.warmup is None else _count(loop.warmup, "warm-up iteration")
    timed = f"{loop.seconds:.3g} s of iterations" if loop.nloops is None else _count(loop.nloops, "timed iteration")
    each = f"{_count(plan.processes, 'process', 'processes')} of each, with {warmup} and {timed}"
    if plan.sessions > 1:
        each += f", in {plan.sessions} sessions that begin every {duration(plan.every_s)}"
    if rule is not None and rule.rule == "precision":
        wanted = f"within ±{100 * rule.value:.3g} %"
        return f"at least {each}, until intervals are {wanted} or {duration(rule.limit_s)} are over"
    processes = plan.processes * len(plan.measured)
    beside = ", and what compiling takes" if any(task.runner.compiles for task in plan.measured) else ""
    if loop.nloops is not None:
        return f"{each}; {duration(processes * plan.start_s)} to start them all{beside}"
    # Building a model takes time as well. A process that has not reached steady state is extended by its own duration.
    least, most = (processes * (plan.start_s + times * loop.seconds) for times in (1, 2.5))
    about, at_most = duration(least), duration(most)
    return f"{each}; that takes about {about}{f' to {at_most}' if at_most != about else ''}{beside}"


def outcome(run: Run) -> str:
    """Returns the stop reason and the width of the widest interval."""
    if run.plan.stopped_by is None:
        return "nothing was measured"
    why = _ENDS.get(run.plan.stopped_by, "")
    rule = f"stopped by {run.plan.stopped_by}: {why}"
    if run.plan.precision is None:
        return f"{rule}; precision unknown: an interval needs 3 processes of each runner"
    return f"{rule}; the widest 95 % interval is ±{100 * run.plan.precision:.3g} % of its estimate"


def first_calls(run: Run) -> Iterator[str]:
    """Yields the time of each runner's first iteration, excluded from all estimates."""
    each = []
    for one in run.results:
        first = one.first_call_ns()
        each += [] if first is None else [f"{visible(name(one))} {first / 1e6:.4g}"]
    if each:
        both = ", forward and backward" if any(one.backward is not None for one in run.results) else ""
        yield f"first call{both}, ms: {', '.join(each)}"


def compiling(run: Run) -> Iterator[str]:
    """Yields the compile times of runners that compile, as medians of processes."""
    each = []
    for one in run.results:
        done = [process.compile for process in one.processes if process.status == "ok"]
        facts = [fact for fact in done if fact.graph_breaks is not None]
        cold = [fact.cold_ns for fact in facts if fact.cold_ns is not None]
        warm = [fact.warm_ns for fact in facts if fact.warm_ns is not None]
        if cold or warm:
            breaks = max(fact.graph_breaks or 0 for fact in facts)
            again = max(fact.recompilations or 0 for fact in facts)
            broken = f", {_count(breaks, 'graph break')}" if breaks else ""
            inside = f", compiled {again} times more in the loop" if again else ""
            each.append(f"{visible(name(one))} {_seconds(cold)} / {_seconds(warm)}{broken}{inside}")
    if each:
        yield f"compile, cold / warm, s: {'; '.join(each)}"


def _seconds(durations_ns: list[int]) -> str:
    """Formats the median in seconds; a dash if there are no durations."""
    return f"{quantiles(durations_ns, [0.5])[0] / 1e9:.3g}" if durations_ns else "-"


def warnings(notices: Sequence[Notice]) -> Iterator[str]:
    """Yields each warning with its evidence, then its hint."""
    for one in notices:
        evidence = f" ({visible(one.evidence)})" if one.evidence else ""
        yield f"warning: {visible(one.message)}{evidence}"
        if one.hint:
            yield f"  hint: {visible(one.hint)}"


def _modes(plan: BenchPlan) -> str:
    """Returns the modes of all models that differ from the default."""
    asked: dict[str, Callable[[Problem], bool]] = {
        "inference: only forward, without gradients": lambda problem: not problem.training,
        "forward under autocast to bfloat16": lambda problem: problem.amp,
        "cuDNN tries its algorithms": lambda problem: problem.cudnn_benchmark,
        "deterministic algorithms": lambda problem: problem.deterministic,
    }
    return "; ".join(name for name, holds in asked.items() if all(holds(task.problem) for task in plan.tasks))


def _rows(plan: BenchPlan) -> str:
    """Returns the number of runners; in a sweep, also the number of rows."""
    runners = _count(len({task.runner.name for task in plan.tasks}), "runner")
    return f"{runners} in {_count(len(plan.tasks), 'row')}" if plan.axes else runners


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """Formats seconds as a rounded duration in s, min or h."""
    minute, hour = 60, 3600
    if seconds < 2 * minute:
        return f"{max(1, math.ceil(seconds))} s"
    return f"{seconds / minute:.0f} min" if seconds < 2 * hour else f"{seconds / hour:.1f} h"


def _sizes(plan: BenchPlan) -> dict[str, str]:
    """Returns the sizes of each family, written as the flags that set them."""
    flags = {
        "seq_length": "seqLength",
        "num_layers": "numLayers",
        "input_size": "inputSize",
        "hidden_size": "hiddenSize",
        "mini_batch": "miniBatch",
        "image_size": "image-size",
        "proj_size": "proj-size",
        "bidirectional": "bidirectional",
        "channels_last": "channels-last",
    }
    found: dict[str, str] = {}
    for task in plan.tasks:
        given = {flag: getattr(task.problem, name) for name, flag in flags.items()}
        swept = {flags.get(axis.name.replace("-", "_")) for axis in plan.axes}
        shown = {
            flag: "" if value is True else f" {value}" for flag, value in given.items() if value and flag not in swept
        }
        text = " ".join(flag + value for flag, value in shown.items())
        found.setdefault(task.runner.family, text)
    return found
