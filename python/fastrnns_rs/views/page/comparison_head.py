"""Context of a comparison's page: problem, machine and threads of both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.page.parts import Facts
from fastrnns_rs.views.run import run_head
from fastrnns_rs.views.screen import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fastrnns_rs.documents.comparison import Comparison, Value
    from fastrnns_rs.problem.problem import Problem


def lines(comparison: Comparison) -> Iterator[Line]:
    """Yields what was measured, and on which machine: once if both sides are equal."""
    known = [(one.group or one.runner, one.problem) for one in comparison.rows if one.problem is not None]
    both = [one.environment for one in (comparison.baseline, comparison.candidate)]
    presets = [one.get("plan.preset") for one in both]
    preset = presets[0] if presets[0] == presets[1] and presets[0] is not None else None
    # A row has the problem of the baseline, and the options of a side of `ab` may be those of another problem.
    whose = "" if both[0].get("options") == both[1].get("options") else "baseline: "
    yield from (Line(f"{whose}{text}") for text in run_head.size_lines(known, None if preset is None else str(preset)))
    texts = [_machine(one, [problem for _, problem in known]) for one in both]
    if texts[0] == texts[1]:
        yield from (Line(text) for text in texts[:1] if text)
    else:
        yield from (Line(f"{name}: {text}") for name, text in zip(("baseline", "candidate"), texts, strict=True))


def _machine(environment: Mapping[str, Value], problems: list[Problem]) -> str:
    """Returns `cpu (Intel Xeon), 1 thread, float32, torch 2.15.0`."""
    parts = []
    devices = dict.fromkeys(one.device for one in problems)
    for one in devices:
        index = one.partition(":")[2] or "0"
        model = environment.get(f"gpus[{index}].name" if one.startswith("cuda") else "cpu_model")
        parts.append(f"{one} ({model})" if model else one)
    threads = environment.get("plan.threads") or environment.get("num_threads")
    if isinstance(threads, int) and not all(one.startswith("cuda") for one in devices):
        parts.append(counted(threads, "thread"))
    parts += [*run_head.modes(problems)] if problems else []
    version = environment.get("torch_version")
    # The local part of the version, such as +cu130, is among the facts.
    parts += [f"torch {str(version).partition('+')[0]}"] if version else []
    return visible(", ".join(parts))


def machine(comparison: Comparison) -> Iterator[Facts]:
    """Yields the environment that both sides have in common."""
    first, second = comparison.baseline.environment, comparison.candidate.environment
    pairs = [(key, value) for key, value in first.items() if key in second and second[key] == value]
    if pairs:
        yield Facts([(visible(key), visible(words.value(value))) for key, value in pairs])
