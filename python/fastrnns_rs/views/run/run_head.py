"""Context lines of a run: problem, machine and amount of measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import span
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fastrnns_rs.documents.run_file import Environment, Run
    from fastrnns_rs.problem.problem import Problem

#: Sizes of a problem, each with its word on the screen.
SIZES = {
    "seq_length": "seq",
    "num_layers": "layers",
    "input_size": "input",
    "hidden_size": "hidden",
    "proj_size": "projection",
    "mini_batch": "batch",
    "image_size": "image",
}
_SWITCHES = {"bidirectional": "bidirectional", "channels_last": "channels last"}
_MODES = {
    "amp": "autocast to bfloat16",
    "allow_tf32": "TF32",
    "cudnn_benchmark": "cudnn.benchmark",
    "deterministic": "deterministic",
}
#: More families are counted, so that the context has three lines.
_MOST_FAMILIES = 2
#: More values of a size are shown as a range.
_MOST_VALUES = 3


def lines(run: Run, families: Mapping[str, str], limit: int, device: str | None = None) -> list[Line]:
    """Returns the context of a run: families with sizes, machine and amount.

    Args:
        run: Run, possibly without results.
        families: Family of each runner; a runner without one is described by its name.
        limit: Width of the terminal.
        device: Text in place of the device, while the device is unknown; None for the device of the run.
    """
    problems = [problem for _, problem in _runners(run)]
    if not problems:
        return [Line("no runners", "dim")]
    machine = [device or _device(run, problems), _threads(run, problems), *modes(problems)]
    # The local part of the version, such as +cu130, is in the run file.
    versions = dict.fromkeys(one.torch_version.partition("+")[0] for one in _environments(run))
    machine.append(f"torch {' and '.join(map(visible, versions))}")
    texts = [*_families(run, families), f"{', '.join(one for one in machine if one)}; {_amount(run)}"]
    return wrapped_lines(texts, limit, "dim")


def map_families(run: Run) -> dict[str, str]:
    """Returns the family of each runner that has a result."""
    return {one.runner: one.group for one in run.results}


def _runners(run: Run) -> list[tuple[str, Problem]]:
    """Returns each runner with its problem: what was planned, and other results."""
    found = [(one.runner, one.problem) for one in run.plan.runners]
    # Older files, and those of other programs, may have no plan, or another one.
    found += [pair for one in run.results if (pair := (one.runner, one.problem)) not in found]
    return found


def _families(run: Run, families: Mapping[str, str]) -> Iterator[str]:
    """Yields the lines of the families, without those that a filter hides."""
    known = _runners(run)
    # Rows that a filter hides are not described.
    described = [(runner, problem) for runner, problem in known if runner in families] or known
    yield from size_lines([(families.get(runner, runner), problem) for runner, problem in described], run.plan.preset)


def size_lines(problems: Iterable[tuple[str, Problem]], preset: str | None) -> Iterator[str]:
    """Yields a line for each family, or for families of equal sizes.

    Args:
        problems: Problems, each with its family.
        preset: Preset of the sizes; None if it is unknown.
    """
    by_family: dict[str, list[Problem]] = {}
    for family, problem in problems:
        by_family.setdefault(visible(family), []).append(problem)
    by_sizes: dict[str, list[str]] = {}
    for family, found in by_family.items():
        by_sizes.setdefault(_sizes(found), []).append(family)
    shown = [*by_sizes.items()]
    origin = "" if preset is None else f" (preset {visible(preset)})"
    for sizes, names in shown[:_MOST_FAMILIES]:
        yield f"{', '.join(names)}{origin}: {sizes}"
    if rest := [name for _, names in shown[_MOST_FAMILIES:] for name in names]:
        yield f"also {', '.join(rest)}"


def _sizes(problems: Sequence[Problem]) -> str:
    found = []
    for name, word in SIZES.items():
        values = [getattr(one, name) for one in problems]
        if known := [one for one in dict.fromkeys(values) if one is not None]:
            found.append(f"{word} {_values(known)}")
    found += _switched_on(_SWITCHES, problems)
    return ", ".join(found)


def describe_problem(run: Run, problem: Problem) -> str:
    """Returns device, dtype and sizes of a problem, as `cpu, float32, hidden 64`."""
    return ", ".join(filter(None, (_device(run, [problem]), visible(problem.dtype), _sizes([problem]))))


def _values(values: Sequence[int | str]) -> str:
    """Returns the values of a sweep as `64/128/256`, or as `16 to 1024`."""
    if len(values) <= _MOST_VALUES or not all(isinstance(one, int) for one in values):
        return "/".join(map(str, values))
    return f"{min(values)} to {max(values)}"


def _device(run: Run, problems: Iterable[Problem]) -> str:
    names = list(dict.fromkeys(one.device for one in problems))
    gpus = {f"cuda:{one.index}": one.name for one in run.environment.gpus}
    models = [gpus.get("cuda:0" if one == "cuda" else one) for one in names]
    known = list(dict.fromkeys(visible(one) for one in models if one))
    model = f" ({', '.join(known)})" if known else ""
    side_by_side = " side by side" if run.plan.side_by_side else ""
    return f"{', '.join(map(visible, names))}{model}{side_by_side}"


def _threads(run: Run, problems: Iterable[Problem]) -> str:
    if all(one.device.startswith("cuda") for one in problems):
        return ""
    if not run.sides:
        return counted(run.plan.threads or run.environment.num_threads, "thread")
    counts = dict.fromkeys(one.threads or one.environment.num_threads for one in run.sides)
    return " and ".join(counted(one, "thread") for one in counts)


def _environments(run: Run) -> list[Environment]:
    """Returns the environments of both sides of `ab`, else that of the run."""
    return [one.environment for one in run.sides] or [run.environment]


def modes(problems: Sequence[Problem]) -> Iterator[str]:
    """Yields the dtypes, and the modes of at least one problem."""
    yield "/".join(dict.fromkeys(visible(one.dtype) for one in problems))
    if any(not one.training for one in problems):
        yield "train/inference" if any(one.training for one in problems) else "inference"
    yield from _switched_on(_MODES, problems)


def _switched_on(words: Mapping[str, str], problems: Sequence[Problem]) -> Iterator[str]:
    """Yields the words of switches that are on in all problems, or in some."""
    for name, word in words.items():
        count = sum(bool(getattr(one, name)) for one in problems)
        if count:
            yield word if count == len(problems) else f"{word} in some rows"


def _amount(run: Run) -> str:
    plan = run.plan
    each = "side" if run.sides else "runner"
    per_session = plan.processes // max(plan.sessions, 1)
    text = f"{counted(per_session, 'process', 'processes')} per {each}"
    rows = len(plan.runners) or len(run.results)
    if plan.sessions > 1:
        text = f"{plan.sessions} sessions of {text}"
        text += f", every {span(plan.session_interval_s)}" if plan.session_interval_s else ""
    if plan.stop.rule == "precision":
        text = f"at least {text} until ±{100 * plan.stop.parameters.get('half_width', 0):.2g} %"
    if plan.stop.rule == "decided":
        text = f"at most {text} until decided"
    if run.ranks:
        text += f", {len(run.ranks)} ranks"
    elif rows > 1 and plan.processes > 1:
        text += ", alternately" if plan.turns else ", interleaved"
    return text
