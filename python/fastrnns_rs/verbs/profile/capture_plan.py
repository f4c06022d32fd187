"""Plan of captures; invalid requests fail before anything runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fastrnns_rs._core import Profiler, run_command
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.problem.problem import check_count
from fastrnns_rs.problem.torch_profiler import HANDLERS, TorchOptions, check_for_device
from fastrnns_rs.processes.module_path import present_path
from fastrnns_rs.processes.programs import module_command
from fastrnns_rs.processes.worker_setting import python_path
from fastrnns_rs.runners.module_clashes import check_clashes
from fastrnns_rs.runners.plan import Plan, make_plan
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.runners.source_hash import source_sha256
from fastrnns_rs.verbs.profile import tools
from fastrnns_rs.verbs.profile.attempt import child_environment, describe_end

#: A larger number is a mistake: each process takes at least some seconds.
_MOST_PROCESSES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Plan of a capture.

    Attributes:
        request: Request with the selected tool.
        plan: Plan of the runners, all of which support the options.
        tool: Profiler.
        skipped: Runners of a group that do not support an option, with the reason.
        chosen: True if the profiler was selected automatically.
        sources: Hash of the code of each runner, by its name.
    """

    request: ProfileRequest
    plan: Plan
    tool: Profiler
    skipped: dict[str, str]
    chosen: bool
    sources: dict[str, str | None]


def prepare(request: ProfileRequest, paths: Mapping[str, str | None], torch: TorchOptions | None = None) -> Prepared:
    """Builds the plan of a capture.

    Args:
        request: Request.
        paths: Program of each profiler; None for the newest found.
        torch: Options of torch's profiler if it is selected automatically; None for those of the request.

    Raises:
        MissingError: If the device or the profiler is missing.
        UsageError: If options contradict each other or the device, or the trace handler does not exist.
    """
    request.options.choice.runners()
    if request.tool not in {None, "torch"} and request.torch != TorchOptions():
        message = f"options of torch.profiler do not work with {request.tool}"
        raise UsageError(message, "Use torch.profiler, or leave out its options.")
    if request.tool in tools.PROGRAMS:
        # The program is checked before torch is probed, which takes seconds.
        tools.choose(str(request.tool), paths.get(str(request.tool)))
    facts = environment.probe(request.options.device, request.options.computed_dtype)
    chosen = request.tool is None
    name = request.tool or ("torch" if request.torch != TorchOptions() else tools.best(facts))
    if chosen and name == "torch" and torch is not None:
        request = replace(request, torch=torch)
    request = replace(request, tool=name)
    tools.check_usable(name, facts)
    plan = make_plan(request.options, facts)
    skipped = {task.runner.name: task.refusal for task in plan.tasks if task.refusal}
    plan = replace(plan, tasks=[task for task in plan.tasks if not task.refusal])
    if not plan.tasks:
        first = next(iter(skipped))
        message = f"no runners to profile: runner {first!r} {skipped[first]}"
        raise UsageError(message, "Change the option or the runner.")
    if name == "torch":
        check_for_device(request.torch, plan.tasks[0].problem.device)
    request.captured(plan.nloops)
    handler = request.torch.handler
    if handler is not None and handler[0] not in HANDLERS:
        _check_function(*handler, timeout=request.options.timeout)
    tool = tools.choose(name, paths.get(name))
    sources = {task.runner.name: source_sha256(task.runner.source) for task in plan.tasks}
    return Prepared(request=request, plan=plan, tool=tool, skipped=skipped, chosen=chosen, sources=sources)


def check_processes(number: int) -> None:
    """Checks the number of captures of each plan.

    Raises:
        UsageError: If the number is invalid.
    """
    check_count("processes", number, least=1, most=_MOST_PROCESSES)


def plan_captures(prepared: Prepared, *, separate: bool = False, processes: int = 1) -> list[Prepared]:
    """Returns the captures to make, in order.

    Args:
        prepared: Plan of all captures.
        separate: True for one runner per capture, False for all runners in one.
        processes: Number of captures of each plan, each in a separate process. Every second round is reversed, so that
            a drift affects two runners equally.

    Raises:
        UsageError: If the number is invalid, or two runners of a capture cannot run in one process.
    """
    check_processes(processes)
    tasks = prepared.plan.tasks
    each = [replace(prepared, plan=replace(prepared.plan, tasks=[task])) for task in tasks] if separate else [prepared]
    for one in each:
        hint = "Use `separate`, or rename one of the modules."
        check_clashes([task.runner.source for task in one.plan.tasks], hint)
    return [one for number in range(processes) for one in (each if number % 2 == 0 else reversed(each))]


def _check_function(module: str, name: str, timeout: float) -> None:
    """Checks that the profiled process can import a function.

    Another process imports it: the module most likely imports torch, which this process never does. The profiled
    process has the folders of its runners' files on its path too.

    Raises:
        UsageError: If the function cannot be imported.
    """
    command = module_command("fastrnns_rs.worker.profile.trace_handler", module, name)
    try:
        variables = {**child_environment(), "PYTHONPATH": python_path(present_path())}
        completed = run_command(command, timeout=timeout, env=variables)
    except (OSError, RuntimeError) as error:
        message, hint = f"cannot import module: {module!r}", "Import the module at a Python prompt."
        raise UsageError(message, hint, where="on_trace_ready", reason=str(error)) from None
    if completed.exit_status != 0:
        try:
            message, hint = json.loads(completed.stdout_tail.rpartition("\n")[2])
        except (ValueError, TypeError):
            # The imported module ended the process.
            message = f"cannot import module: {module!r}: {describe_end(completed)}"
            hint = "Put the folder of the module on PYTHONPATH."
        raise UsageError(str(message), str(hint))
