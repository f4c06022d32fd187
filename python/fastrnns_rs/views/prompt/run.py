"""Runs and their results as they are shown at a Python prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.run_file import Environment, Gpu, PhaseSummary, Process, Result, Run
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import estimate, estimate_with_interval, half_width_percent, mebibytes
from fastrnns_rs.views.prompt.line import LIMIT, count, duration, file_name, prompt_line
from fastrnns_rs.views.prose import WIDTH, start_time
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line, plain
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_ROWS = 12
#: More devices are counted.
_MOST_DEVICES = 2
#: First digits of a run ID, as in the history.
_DIGITS = 12
#: Width of `<Run : >`.
_AROUND = 8


def loaded_name(name: str) -> str:
    """Returns `@last` or the like, or the name of the file without its folder."""
    return name if name.startswith("@") else file_name(name)


def _run(run: Run) -> str:
    """Returns a line about a run, then the table of the terminal."""
    name = run.run_id[:_DIGITS] if run.loaded_as is None else loaded_name(run.loaded_as)
    runners = count(len({one.runner for one in run.results}), "runner")
    devices = _devices(one.problem.device for one in run.results)
    machine = f"torch {run.environment.torch_version.partition('+')[0]}"
    begin = start_time(run.created_utc)
    status = None if run.status == "complete" else run.status
    warnings = count(len(run.warnings), "warning") if run.warnings else None
    parts = [f"{runners} on {devices}" if devices else runners, machine, begin, status, warnings]
    # The version of torch, and then the start, give way to a name that would be shortened.
    for least in (machine, begin):
        if width(visible(name)) + width(", ".join(filter(None, parts))) + _AROUND <= LIMIT:
            break
        parts.remove(least)
    head = prompt_line("Run", parts, name)
    if not run.results:
        return head
    rows = run_table.rows(run)
    table = run_table.lines(rows[:_MOST_ROWS], WIDTH)
    left = len(rows) - _MOST_ROWS
    return f"{head}\n{plain([*table, *([Line(f'… {left:,} more')] if left > 0 else [])])}".rstrip("\n")


def _devices(names: Iterable[str]) -> str:
    found = [*dict.fromkeys(names)]
    return ", ".join(found) if len(found) <= _MOST_DEVICES else f"{len(found):,} devices"


def _result(result: Result) -> str:
    if result.status != "ok":
        return prompt_line("Result", [run_table.outcome(result)], run_table.name(result), sentence=True)
    phases = [("forward", result.forward), ("backward", result.backward)]
    figures = [_with_half_width(name, one) for name, one in phases if one is not None]
    done = None if result.forward is None else count(result.forward.n_processes, "process", "processes")
    return prompt_line("Result", [*figures, done], run_table.name(result))


def _with_half_width(name: str, one: PhaseSummary) -> str:
    """Returns `forward 14.35 ms ±0.9 %`."""
    scale, (low, high) = Scale([one.estimate_ns]), run_table.interval_ends(one)
    interval = "" if low is None else f" {half_width_percent(one.estimate_ns, low, high)}"
    return f"{name} {estimate(one.estimate_ns, low, high, scale.ns)} {scale.unit}{interval}"


def _phase(one: PhaseSummary) -> str:
    scale = Scale([one.estimate_ns])
    time = estimate_with_interval(one.estimate_ns, *run_table.interval_ends(one), scale.ns)
    processes = count(one.n_processes, "process", "processes")
    return prompt_line("PhaseSummary", [f"{time} {scale.unit}", processes, count(one.n_samples, "sample")])


def _process(one: Process) -> str:
    reason = None if one.reason is None else f"{one.status.replace('_', ' ')}: {one.reason}"
    loop = duration(one.timed_loop_ns)
    iterations = count(len(one.forward_ns), "iteration")
    # The time begins with the steady part.
    steady = f"{iterations}, {len(one.forward_ns) - (one.steady_from or 0):,} of them in {loop}" if loop else iterations
    parts = [reason or one.status, steady, one.warmup_class]
    return prompt_line("Process", parts, f"{one.index}" if one.rank is None else f"{one.index} of rank {one.rank}")


def _environment(one: Environment) -> str:
    gpus = _devices(gpu.name for gpu in one.gpus)
    parts = [f"torch {one.torch_version}", f"Python {one.python_version}", gpus or one.cpu_model, one.os]
    return prompt_line("Environment", parts)


def _gpu(one: Gpu) -> str:
    memory = None if one.memory_total_bytes is None else f"{mebibytes(one.memory_total_bytes)} MiB"
    capability = None if one.compute_capability is None else f"compute capability {one.compute_capability}"
    return prompt_line("Gpu", [memory, capability], f"{one.index} {one.name}".rstrip())


#: Functions that return the text of an object, by its class.
MAKERS: dict[type, Callable[[Any], str]] = {
    Run: _run,
    Result: _result,
    PhaseSummary: _phase,
    Process: _process,
    Environment: _environment,
    Gpu: _gpu,
}
