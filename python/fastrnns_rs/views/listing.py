"""Screen of `list`: runners and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views import fitted_table
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.screen import Line

if TYPE_CHECKING:
    from fastrnns_rs.documents.listing import Catalogue, RunnerEntry

#: Letters of modes that few runners support, and of modes that most runners support.
_UNCOMMON_MODES = {"bidirectional": "B", "proj_size": "P", "channels_last": "C"}
_COMMON_MODES = {"inference": "i", "amp": "a", "deterministic": "d"}
_LEGEND = (
    "modes: B --bidirectional, P --proj-size, C --channels-last;",
    "without: i --mode inference, a --amp, d --deterministic",
)
_NONE = "-"
_NAME = 14
#: A description in fewer columns needs too many lines.
_LEAST_DESCRIPTION = 40
_RUNNERS = (
    FittedColumn("runner", least=_NAME),
    FittedColumn("group", rank=1),
    FittedColumn("family", rank=3),
    FittedColumn("devices", rank=4),
    FittedColumn("modes", rank=2),
    FittedColumn("description", is_sentence=True, least=_LEAST_DESCRIPTION),
)
_GROUPS = (FittedColumn("group", least=_NAME), FittedColumn("runners", is_sentence=True))


def lines(found: Catalogue, limit: int, *, with_runners: bool = True, with_groups: bool = True) -> list[Line]:
    """Returns the runners with their modes, then the groups.

    Args:
        found: Runners and groups.
        limit: Width of the terminal.
        with_runners: True includes the runners.
        with_groups: True includes the groups.
    """
    parts = []
    if with_runners:
        rows = [
            FittedRow((one.name, one.group or _NONE, one.family, ",".join(one.devices), _modes(one), _describe(one)))
            for one in found.runners
        ]
        whole = " ".join(_LEGEND)
        legend = [whole] if len(whole) <= limit else [text for part in _LEGEND for text in wrapped(part, limit)]
        table = fitted_table.lines(_RUNNERS, rows, limit)
        # A narrow terminal has no room for the modes.
        parts.append([*table, *(Line(text, "dim") for text in legend if "modes" in table[0].text)])
    if with_groups:
        groups = [FittedRow((one.name, " ".join(one.runners))) for one in found.groups]
        parts.append(fitted_table.lines(_GROUPS, groups, limit))
    return [line for number, part in enumerate(parts) for line in ([Line("")] if number else []) + part]


def _modes(one: RunnerEntry) -> str:
    """Returns the letters of a runner's modes.

    `BP-a` means: the runner supports two uncommon modes, and does not support one common mode.
    """
    supported = "".join(letter for name, letter in _UNCOMMON_MODES.items() if name in one.honours)
    unsupported = "".join(letter for name, letter in _COMMON_MODES.items() if name in one.lacks)
    return supported + (f"-{unsupported}" if unsupported else "") or _NONE


def _describe(one: RunnerEntry) -> str:
    """Returns the description, the missing requirements and the package of a runner."""
    missing = f"needs {' and '.join(one.missing)}, not installed" if one.missing else ""
    package = f"({one.package})" if one.package else ""
    return " ".join(filter(None, ("; ".join(filter(None, (one.description, missing))), package)))
