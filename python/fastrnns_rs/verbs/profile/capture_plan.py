"""From a request to what will be captured, and by which profiler: refused here, before anything runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fastrnns_rs._core import Profiler, run_command
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.problem import check_count
from fastrnns_rs.problem.torch_profiler import HANDLERS, TorchOptions, check_for_device
from fastrnns_rs.runners.plan import Plan, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile import tools
from fastrnns_rs.verbs.profile.attempt import child_environment, end_of

#: More would be a mistake: each takes some seconds at least.
_MOST_PROCESSES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What will be captured.

    Attributes:
        request: What was asked for, its tool decided.
        plan: The runners that will run, none of them refused.
        tool: The profiler.
        skipped: Runners of a group that cannot honour an option, each with why.
        chosen: Whether the profiler was chosen here.
    """

    request: ProfileRequest
    plan: Plan
    tool: Profiler
    skipped: dict[str, str]
    chosen: bool


def prepare(request: ProfileRequest, paths: Mapping[str, str | None]) -> Prepared:
    """Decides what will be captured.

    Args:
        request: What was asked for.
        paths: For each profiler the program to use; None for the newest that is found.

    Raises:
        MissingError: The device or the profiler is not there.
        UsageError: Options contradict each other or the device, or there is no such function to hand traces to.
    """
    request.options.choice.runners()
    if request.tool not in {None, "torch"} and request.torch != TorchOptions():
        message = f"options of torch's profiler were given, and the profiler is {request.tool}"
        raise UsageError(message, "give --torch, or leave them out")
    if request.tool in tools.PROGRAMS:
        # Asked before torch is, which takes seconds.
        tools.choose(str(request.tool), paths.get(str(request.tool)))
    facts = environment.probe(request.options.device, request.options.computed_dtype)
    chosen = request.tool is None
    name = request.tool or ("torch" if request.torch != TorchOptions() else tools.best(facts))
    request = replace(request, tool=name)
    tools.check_usable(name, facts)
    plan = make_plan(request.options, facts)
    skipped = {task.runner.name: task.refusal for task in plan.tasks if task.refusal}
    plan = replace(plan, tasks=[task for task in plan.tasks if not task.refusal])
    if not plan.tasks:
        first = next(iter(skipped))
        raise UsageError(f"nothing is left to profile: {first} cannot do this: {skipped[first]}", "change the option")
    if name == "torch":
        check_for_device(request.torch, plan.tasks[0].problem.device)
    request.captured(plan.nloops)
    handler = request.torch.handler
    if handler is not None and handler[0] not in HANDLERS:
        _check_function(*handler, timeout=request.options.timeout)
    tool = tools.choose(name, paths.get(name))
    return Prepared(request=request, plan=plan, tool=tool, skipped=skipped, chosen=chosen)


def captures_of(prepared: Prepared, *, separate: bool = False, processes: int = 1) -> list[Prepared]:
    """Returns the captures to make, in their order.

    Args:
        prepared: What is captured.
        separate: One runner a capture, instead of all in one.
        processes: Number of captures of each, each of a process of its own. Every second round is in reverse order, so
            that a drift meets two runners alike.

    Raises:
        UsageError: The number is none.
    """
    check_count("processes", processes, least=1, most=_MOST_PROCESSES)
    tasks = prepared.plan.tasks
    each = [replace(prepared, plan=replace(prepared.plan, tasks=[task])) for task in tasks] if separate else [prepared]
    return [one for number in range(processes) for one in (each if number % 2 == 0 else reversed(each))]


def _check_function(module: str, name: str, timeout: float) -> None:
    """Refuses a function that the process that is profiled would not find.

    Another process looks for it, with the same path: the module most likely imports torch, which this one never does.

    Raises:
        UsageError: There is none.
    """
    command = [sys.executable, "-P", "-m", "fastrnns_rs.worker.profile.trace_handler", module, name]
    try:
        completed = run_command(command, timeout=timeout, env=child_environment())
    except (OSError, RuntimeError) as error:
        raise UsageError(f"cannot import {module}: {error}", "import it in a Python prompt to see why") from None
    if completed.exit_status != 0:
        try:
            message, hint = json.loads(completed.stdout_tail.rpartition("\n")[2])
        except (ValueError, TypeError):
            # The module ended the process.
            message, hint = f"cannot import {module}: {end_of(completed)}", "put its folder on PYTHONPATH"
        raise UsageError(str(message), str(hint))
