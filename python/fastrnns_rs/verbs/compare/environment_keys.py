"""Machine, software and plan of a run as flat keys, and which of them two sides do not share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.comparison import Difference

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Value
    from fastrnns_rs.documents.run_file import Run, RunSide

#: What is another number in each run, and so tells nothing.
_VOLATILE = {"load_average_1m", "sm_clock_mhz", "temperature_c"}
#: Between the values of files that are one side and differ.
_OR = " | "
#: How many workers ran at the same time.
AT_ONCE = "plan.at_once"
#: What makes two machines.
_MACHINE = ("cpu_model", "cpu_count", "gpus[0].name")


def flatten(run: Run, side: RunSide | None) -> dict[str, Value]:
    """The environment of a run file, or of one side of it.

    Returns:
        Flat keys: those of the document's `environment` by themselves, as `torch_version` and `git.commit`; others with
        the object that they stand in, as `plan.threads` and `tool.version`.
    """
    plan = run.plan
    found = {**to_plain(run.environment if side is None else side.environment), "tool": to_plain(run.tool)}
    if side is not None:
        found |= {"python": side.python, "options": side.options}
        found["variables"] = {**found["variables"], **side.variables}
    found["plan"] = {
        "preset": plan.preset,
        "threads": plan.threads,
        "affinity": plan.affinity,
        "warmup": to_plain(plan.warmup),
        "stop": {"rule": plan.stop.rule, **plan.stop.parameters},
        "jit": to_plain(plan.jit),
        "devices": plan.devices,
        "at_once": len(run.ranks) or (len(plan.devices) if plan.side_by_side else 1),
    }
    return dict(_flat("", found))


def _flat(path: str, value: Any) -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _VOLATILE:
                yield from _flat(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, item in enumerate(value):
            yield from _flat(f"{path}[{index}]", item)
    # An empty list tells nothing: of no GPU there is no key either.
    elif value != []:
        yield path, plain(value)


def plain(value: Any) -> Value:
    """What a cell can show: a list is a text of its items."""
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    if value is None or isinstance(value, str | int | float | bool):
        # An infinity has no place in JSON.
        return value if value == value and value not in {float("inf"), -float("inf")} else str(value)  # noqa: PLR0124
    return json.dumps(value, sort_keys=True, default=str)


def differences(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Difference]:
    """What two environments do not share; what only one side tells of is missing on the other."""
    return [
        Difference(key=key, baseline=plain(baseline.get(key)), candidate=plain(candidate.get(key)))
        for key in {**baseline, **candidate}
        if plain(baseline.get(key)) != plain(candidate.get(key))
    ]


def merged(environments: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """One environment for files that are one side, and the keys in which they differ; those have every value."""
    every = [*environments]
    found: dict[str, Any] = {}
    differing = []
    for key in {key: None for one in every for key in one}:
        values = {str(plain(one.get(key))): plain(one.get(key)) for one in every}
        found[key] = next(iter(values.values())) if len(values) == 1 else _OR.join(sorted(values))
        if len(values) > 1:
            differing.append(key)
    return found, differing


def values(cell: Value) -> list[str | None]:
    """The values of all files of a side, from one cell of its `merged` environment."""
    return [None if one == str(None) else one for one in str(cell).split(_OR)]


def other_machine(found: Iterable[Difference]) -> list[Difference]:
    """Those differences that tell two machines apart."""
    return [one for one in found if one.key in _MACHINE and None not in {one.baseline, one.candidate}]
