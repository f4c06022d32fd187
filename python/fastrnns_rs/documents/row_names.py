"""What rows are called, so that each can be asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    #: Runner, phase and problem.
    Named = tuple[str, str | None, Mapping[str, Any] | None]


def distinctions(rows: Sequence[Named]) -> list[str]:
    """What tells each row from others of its runner and phase, as in ` (hidden_size 64)`; empty for a row without such.

    Args:
        rows: All rows of a comparison.
    """
    alike: dict[str, list[Mapping[str, Any]]] = {}
    for runner, phase, problem in rows:
        alike.setdefault(_title(runner, phase), []).append(problem or {})
    differing = {title: _differing(problems) for title, problems in alike.items()}
    found = []
    for runner, phase, problem in rows:
        keys = differing[_title(runner, phase)]
        told = ", ".join(f"{key} {_shown(value)}" for key, value in (problem or {}).items() if key in keys)
        found.append(f" ({told})" if told else "")
    return found


def titles(rows: Sequence[Named]) -> list[str]:
    """A name for each row: `runner/phase`, or the runner where there are no phases.

    Rows of one runner and phase are of several problems: what differs in these follows, as in
    `cudnn/forward (hidden_size 64)`.
    """
    told = distinctions(rows)
    return [_title(runner, phase) + suffix for (runner, phase, _), suffix in zip(rows, told, strict=True)]


def names(rows: Sequence[Named]) -> list[tuple[str, ...]]:
    """What each row may be called: by its title, and by runner, or runner and phase, which may be those of more."""
    return [
        tuple(dict.fromkeys((title, _title(runner, phase), runner)))
        for title, (runner, phase, _) in zip(titles(rows), rows, strict=True)
    ]


def places_of(name: str, known: Sequence[Sequence[str]]) -> list[int]:
    """Which rows are called `name`: those with it for a title, or else those that it may stand for.

    Args:
        name: The name that is looked for.
        known: The names of each row, its title first.
    """
    found = [place for place, called in enumerate(known) if called[0] == name]
    return found or [place for place, called in enumerate(known) if name in called]


def _differing(problems: Sequence[Mapping[str, Any]]) -> set[str]:
    """The keys that do not have one value in all problems."""
    keys = {key for one in problems for key in one}
    return {key for key in keys if any(one.get(key) != problems[0].get(key) for one in problems)}


def _title(runner: str, phase: str | None) -> str:
    return runner if phase is None else f"{runner}/{phase}"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
