"""Machine, software and plan of a run as flat keys, and their differences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.comparison import Difference

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Value
    from fastrnns_rs.documents.run_file import PlanRecord, Run, RunSide

#: Keys whose values change from run to run, so that differences have no meaning.
_VOLATILE = {"load_average_1m", "sm_clock_mhz", "temperature_c"}
#: Separator between the different values of files that form one side.
_OR = " | "
#: Digits of the hash of a machine ID.
_DIGITS = 12
#: Key of the number of concurrent workers.
AT_ONCE = "plan.at_once"
#: Key that older builds did not record: without it, nothing is known.
_MACHINE_ID = "machine_id"
#: Keys that distinguish machines.
_MACHINE = ("cpu_model", "cpu_count", "gpus[0].name", _MACHINE_ID)


def flatten(run: Run, side: RunSide | None) -> dict[str, Value]:
    """Returns the environment of a run file, or of one side of it.

    Returns:
        Flat keys. Keys of the document's `environment` have no prefix (`torch_version`, `git.commit`). Other keys have
        the name of their object as prefix (`plan.threads`, `tool.version`).
    """
    plan = choose_plan(run, side)
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
        "at_once": len(run.ranks) or count_devices(plan),
    }
    # Machines of one model have the same names. A run of several machines has no machine of its own.
    machines = {one.machine_id[:_DIGITS] for one in run.sessions if one.machine_id is not None}
    if machines:
        found[_MACHINE_ID] = _OR.join(sorted(machines))
    return dict(_flat("", found))


def choose_plan(run: Run, side: RunSide | None) -> PlanRecord:
    """Returns the plan of a run, or of one side of it.

    `run.plan` has the settings of side `a`.
    """
    if side is None or side.jit is None:
        return run.plan
    return replace(run.plan, threads=side.threads, affinity=side.affinity, jit=side.jit)


def count_devices(plan: PlanRecord) -> int:
    """Returns the number of devices that measure at the same time."""
    return len(plan.devices) if plan.side_by_side else 1


def _flat(path: str, value: Any) -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _VOLATILE:
                yield from _flat(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, item in enumerate(value):
            yield from _flat(f"{path}[{index}]", item)
    # An empty list has no key: a machine without a GPU has none either.
    elif value != []:
        yield path, plain(value)


def plain(value: Any) -> Value:
    """Returns a value that a table cell can show: a list becomes a text of its items."""
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    if value is None or isinstance(value, str | int | float | bool):
        # JSON has no infinities.
        return value if value == value and value not in {float("inf"), -float("inf")} else str(value)  # noqa: PLR0124
    return json.dumps(value, sort_keys=True, default=str)


def plain_values(environment: Mapping[str, Any]) -> dict[str, Value]:
    """Returns an environment for a document, without unknown values."""
    return {key: plain(value) for key, value in environment.items() if value is not None}


def differences(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Difference]:
    """Returns the keys in which two environments differ.

    If only one side has a key, the value of the other side is missing.
    """
    return [
        Difference(key=key, baseline=plain(baseline.get(key)), candidate=plain(candidate.get(key)))
        for key in {**baseline, **candidate}
        if plain(baseline.get(key)) != plain(candidate.get(key))
        and not (key == _MACHINE_ID and None in {baseline.get(key), candidate.get(key)})
    ]


def merged(environments: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Merges the environments of files that form one side.

    Returns:
        The environment, and the keys in which the files differ. The values of these keys are joined.
    """
    # Files may have few keys in common, so that each value is read once.
    by_key: dict[str, dict[str, Value]] = {}
    files: Counter[str] = Counter()
    every = [*environments]
    for one in every:
        files.update(one.keys())
        for key, value in one.items():
            shown = plain(value)
            by_key.setdefault(key, {})[str(shown)] = shown
    found: dict[str, Any] = {}
    differing = []
    for key, values in by_key.items():
        if files[key] < len(every) and key != _MACHINE_ID:
            values.setdefault(str(None), None)
        found[key] = next(iter(values.values())) if len(values) == 1 else _OR.join(sorted(values))
        if len(values) > 1:
            differing.append(key)
    return found, differing


def values(cell: Value) -> list[str | None]:
    """Returns the values of all files of a side, from one `merged` cell."""
    return [None if one == str(None) else one for one in str(cell).split(_OR)]


def other_machine(found: Iterable[Difference]) -> list[Difference]:
    """Returns the differences that show two different machines."""
    return [one for one in found if one.key in _MACHINE and None not in {one.baseline, one.candidate}]
