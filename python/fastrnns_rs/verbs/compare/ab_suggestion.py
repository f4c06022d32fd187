"""Command that resolves verdicts that are conditional on two sessions."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.measuring_command import find_option
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.problem import PRESETS, problem_options
from fastrnns_rs.views.comparison.repeating import list_options

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Difference, Method, Value
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged

#: Differences that `ab` accepts as options of one side.
_OPTIONS = {
    "plan.threads": "--threads",
    "plan.jit.fuser": "--fuser",
    "plan.jit.executor": "--executor",
}
#: Options of `ab` for both sides.
_COMMON = {
    **_OPTIONS,
    "plan.jit.cuda_pointwise_loop_level": "--cuda-pointwise-loop-level",
    "plan.jit.cuda_pointwise_block_count": "--cuda-pointwise-block-count",
    "plan.jit.cuda_pointwise_block_size": "--cuda-pointwise-block-size",
    "plan.affinity": "--affinity",
    "plan.warmup.iterations": "--warmup",
    "plan.stop.nloops": "--nloops",
}
_DEFAULTS = {"plan.jit.fuser": JitSettings().fuser}
#: Differences that follow from other differences, or that change only the amount of measurements.
_WITHOUT_EFFECT = (
    "num_threads",
    "plan.preset",
    "plan.stop.",
    "plan.warmup.",
    "problem.seed",
    "git.",
    "variables.FASTRNNS_",
)
#: Software differences that a different interpreter explains.
_INTERPRETER_KEYS = ("python_version", "torch_version", "torchvision_version", "cuda_version", "cudnn_version")
_INTERPRETER = "python_executable"
_VARIABLES = "variables."


def suggest_ab_command(
    judged: Sequence[Judged], changed: Sequence[Difference], candidate: Side, method: Method
) -> str | None:
    """Returns the `ab` command that measures the difference of two runs.

    Args:
        judged: Rows without a verdict because sessions are missing. The row with the largest change is measured, and
            each row with the same options.
        changed: Differences between the two runs.
        candidate: Side with the options that both have in common: its machine, software and plan, and its runner files.
        method: Method of the comparison, which the command keeps.

    Returns:
        The command; None if no options of `ab` express the difference.
    """
    environment = candidate.environment
    decided = [one for one in judged if one.row.conditional_verdict] or [*judged]
    largest = max(decided, key=lambda one: abs(math.log(one.row.ratio or 1.0)))
    sides, problem = _sides(changed), _problem_words(largest, environment)
    if not sides or problem is None:
        return None
    runners = dict.fromkeys(one.row.runner for one in judged if _problem_words(one, environment) == problem)
    files = find_option(candidate.command, "--runner-file")
    common = _common_options(changed, environment)
    # Sides of `ab` match.
    options = list_options(replace(method, forced=False))
    return shlex.join(["fastrnns-rs", "ab", *runners, *files, *problem, *common, *sides, *options])


def _common_options(changed: Sequence[Difference], environment: Mapping[str, Value]) -> Iterator[str]:
    """Yields the options that both runs had."""
    differing = {one.key for one in changed}
    for key, flag in _COMMON.items():
        value = environment.get(key)
        if key not in differing and value not in {None, _DEFAULTS.get(key)}:
            # The CPUs of a list are separated by spaces, and a count may be 5.0.
            yield from (flag, f"{value:.0f}" if isinstance(value, float) else str(value).replace(" ", ","))


def _problem_words(one: Judged, environment: Mapping[str, Value]) -> list[str] | None:
    """Returns the options of a row's problem and of its timing.

    Returns:
        The options; None if the problem is unknown, or the code of the runner changed.
    """
    series = one.pair.baseline, one.pair.candidate
    sources = {side.source_sha256 for side in series if side is not None}
    if len(sources) != 1 or None in sources or one.row.problem is None:
        return None
    device = "cuda:0" if one.row.problem.device == "cuda" else one.row.problem.device
    default = "cuda:0" if "gpus[0].name" in environment else "cpu"
    place = [] if device == default else ["--device", device]
    preset = PRESETS["cpu" if device == "cpu" else "upstream"]
    # The timing mode alone records how often the GPU was waited for, which changes nothing on a CPU.
    sync = ["--sync", "phase"] if one.pair.series.timing_mode == "cuda_events_by_phase" else []
    return [*place, *problem_options(one.row.problem, preset), *sync]


def _sides(changed: Sequence[Difference]) -> list[str] | None:
    """Returns the options that cause the differences; None if no option causes one."""
    found = {one.key: (one.baseline, one.candidate) for one in changed}
    words: list[str] = []
    # The last `--a` counts, so that it has all options of its side.
    options: dict[str, list[str]] = {"a": [], "b": []}
    for key, values in found.items():
        if key in _INTERPRETER_KEYS:
            if _INTERPRETER not in found:
                return None
        elif key.startswith(_WITHOUT_EFFECT):
            continue
        elif key == _INTERPRETER or key in _OPTIONS or key.startswith(_VARIABLES):
            for side, value in zip(options, values, strict=True):
                if value is None:
                    continue
                if key in _OPTIONS:
                    options[side] += [_OPTIONS[key], str(value)]
                elif key == _INTERPRETER:
                    words += [f"--{side}-python", str(value)]
                else:
                    words += [f"--{side}-env", f"{key.removeprefix(_VARIABLES)}={value}"]
        else:
            return None
    return [*(word for side, each in options.items() if each for word in (f"--{side}", shlex.join(each))), *words]
