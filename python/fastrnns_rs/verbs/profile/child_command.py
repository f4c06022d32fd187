"""Command line of the profiled process: the same request, as flags."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.processes.programs import module_command
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile.tools import module_words, start_folder

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.runners.plan import Plan
    from fastrnns_rs.runners.runner import Source

#: Options that the plan resolves or that are passed separately. The parent enforces the timeout.
_DECIDED = {"choice", "sizes", "modes", "jit", "device", "warmup", "nloops", "timeout"}


def child_command(request: ProfileRequest, plan: Plan, stem: Path, answer: str | None) -> list[str]:
    """Returns the command that runs a plan in a separate process.

    A profiler command can precede it.

    Args:
        request: Request.
        plan: Plan of the request.
        stem: Prefix of the files of torch's profiler.
        answer: Path of the process's report; None for no report.
    """
    # All options are flags: the child would read variables and `pyproject.toml` again, with different results
    # elsewhere.
    first = ["--internal-run", "--flags-only"]
    first += ["--stem", str(stem)] if request.tool == "torch" else []
    first += [] if answer is None else ["--answer", answer]
    start = ["fastrnns_rs"] if start_folder(request.tool) is None else module_words("fastrnns_rs")
    return module_command(*start, "profile", *first, *arguments(request, plan))


def arguments(request: ProfileRequest, plan: Plan) -> list[str]:
    """Returns the flags that reproduce a request, without its timeout.

    Options with default values are omitted.
    """
    runners = [task.runner for task in plan.tasks]
    # One flag each keeps the order, and allows any character in a name.
    words = [f"--runner={one.name}" for one in runners]
    places = dict.fromkeys(_place(one.source) for one in runners if not one.source.is_built_in)
    words += [word for place in places for word in place]
    words += ["--device", plan.tasks[0].problem.device, "--warmup", str(plan.warmup), "--nloops", str(plan.nloops)]
    words += _changed(request.options.sizes, Sizes())
    words += _changed(request.options.modes, Modes())
    words += _changed(request.options, Options(), _DECIDED)
    words += _changed(request.options.jit, JitSettings())
    words += _changed(request, ProfileRequest(), {"options", "tool", "torch"})
    if request.tool is not None:
        words.append(f"--{request.tool}")
    if request.tool == "torch":
        words += _changed(request.torch, TorchOptions())
    return words


def _place(source: Source) -> tuple[str, str]:
    """Returns the flag that makes a child process load the code of a runner."""
    if source.runner_file is None and registry.is_importable(source):
        return "--runner-module", source.module
    return "--runner-file", source.runner_file or source.file


def _changed(given: Any, default: Any, without: Collection[str] = ()) -> Iterator[str]:
    """Yields a flag for each field that differs from its default."""
    for field in fields(given):
        value = getattr(given, field.name)
        if field.name in without or value == getattr(default, field.name):
            continue
        flag = f"--{field.name.replace('_', '-')}"
        if isinstance(value, bool):
            yield flag if value else flag.replace("--", "--no-", 1)
        else:
            # Flag and value are one word, because a value may begin with a dash.
            yield f"{flag}={','.join(value) if isinstance(value, tuple) else value}"
