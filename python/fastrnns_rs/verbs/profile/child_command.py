"""The command line of the process that is profiled: the same request, as flags."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.runners.profile_request import ProfileRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.runners.plan import Plan

#: What the plan has already decided, or the child is told apart; of its time the parent takes care.
_DECIDED = {"choice", "sizes", "modes", "jit", "device", "warmup", "nloops", "timeout"}


def child_command(request: ProfileRequest, plan: Plan, stem: Path, answer: str | None) -> list[str]:
    """The command that runs a plan in a process of its own, which a profiler can be put in front of.

    Args:
        request: What was asked for.
        plan: What was made of it.
        stem: What the files of torch's profiler begin with.
        answer: The file in which the process says how it went; None for none.
    """
    # Everything is told by flags: variables and a `pyproject.toml` would be read anew, and not say the same everywhere.
    told = ["--internal-run", "--flags-only"]
    told += ["--stem", str(stem)] if request.tool == "torch" else []
    told += [] if answer is None else ["--answer", answer]
    # -P: the folder one happens to stand in must not hide the standard library.
    return [sys.executable, "-P", "-m", "fastrnns_rs", "profile", *told, *arguments(request, plan)]


def arguments(request: ProfileRequest, plan: Plan) -> list[str]:
    """The flags that give this request again, but for its timeout. What is left at its default is left out."""
    runners = [task.runner for task in plan.tasks]
    # One flag each: in their order, and whatever their names hold.
    words = [f"--runner={one.name}" for one in runners]
    for source in dict.fromkeys(one.source for one in runners):
        if not source.module.startswith("fastrnns_rs."):
            importable = registry.is_importable(source)
            words += ["--runner-module", source.module] if importable else ["--runner-file", source.file]
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


def _changed(given: Any, default: Any, without: Collection[str] = ()) -> Iterator[str]:
    """A flag for each field that is not as it is by default."""
    for field in fields(given):
        value = getattr(given, field.name)
        if field.name in without or value == getattr(default, field.name):
            continue
        flag = f"--{field.name.replace('_', '-')}"
        if isinstance(value, bool):
            yield flag if value else flag.replace("--", "--no-", 1)
        else:
            # As one word: a value may begin with a dash.
            yield f"{flag}={','.join(value) if isinstance(value, tuple) else value}"
