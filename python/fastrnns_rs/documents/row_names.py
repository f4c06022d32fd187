"""Unique names of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    #: Runner, phase and problem of a row.
    Named = tuple[str, str | None, Mapping[str, Any] | None]


def distinctions(rows: Sequence[Named]) -> list[str]:
    """Returns for each row a suffix that only it has for its runner and phase.

    An example is ` (hidden_size 64)`. The suffix is empty for a row whose runner and phase have no different problems.

    Args:
        rows: All rows of a comparison.
    """
    problems_by_title: dict[str, list[Mapping[str, Any]]] = {}
    for runner, phase, problem in rows:
        problems_by_title.setdefault(_title(runner, phase), []).append(problem or {})
    differing = {title: _differing(problems) for title, problems in problems_by_title.items()}
    found = []
    for runner, phase, problem in rows:
        keys = differing[_title(runner, phase)]
        distinction = ", ".join(f"{key} {_shown(value)}" for key, value in (problem or {}).items() if key in keys)
        found.append(f" ({distinction})" if distinction else "")
    return found


def titles(rows: Sequence[Named]) -> list[str]:
    """Returns a name for each row: `runner/phase`, or the runner without phases.

    Rows of one runner and phase have several problems. The differing keys follow, as in `cudnn/forward (hidden_size
    64)`.
    """
    distinction = distinctions(rows)
    return [_title(runner, phase) + suffix for (runner, phase, _), suffix in zip(rows, distinction, strict=True)]


def names(rows: Sequence[Named]) -> list[tuple[str, ...]]:
    """Returns the names of each row: its title, and its runner and phase.

    The runner, or the runner and phase, may also be a name of other rows.
    """
    return [
        tuple(dict.fromkeys((title, _title(runner, phase), runner)))
        for title, (runner, phase, _) in zip(titles(rows), rows, strict=True)
    ]


def find_places(name: str, known: Sequence[Sequence[str]]) -> list[int]:
    """Returns the indices of the rows with a title, or else with a name.

    Args:
        name: Name to find.
        known: Names of each row, its title first.
    """
    found = [place for place, called in enumerate(known) if called[0] == name]
    return found or [place for place, called in enumerate(known) if name in called]


def _differing(problems: Sequence[Mapping[str, Any]]) -> set[str]:
    """Returns the keys whose values are not the same in all problems."""
    keys = {key for one in problems for key in one}
    return {key for key in keys if any(one.get(key) != problems[0].get(key) for one in problems)}


def _title(runner: str, phase: str | None) -> str:
    return runner if phase is None else f"{runner}/{phase}"


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    import json  # Most rows differ by their runner alone.

    return json.dumps(value)
