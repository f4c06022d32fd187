"""Words of commands that measure or compare the rows of a comparison again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from fastrnns_rs.documents.measuring_command import with_options
from fastrnns_rs.views.comparison.repeating import list_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.documents.comparison import Method
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged

#: More names would fill the screen.
_MOST_RUNNERS = 4


def list_runners(judged: Iterable[Judged]) -> str:
    """Returns the runners of rows for a command line; `RUNNER` if there are too many."""
    series = (side for one in judged for side in (one.pair.baseline, one.pair.candidate) if side is not None)
    names = dict.fromkeys(one.runner for one in series)
    return shlex.join(names) if len(names) <= _MOST_RUNNERS else "RUNNER"


def make_ab_command(baseline: Side, candidate: Side, processes: int) -> str | None:
    """Returns the `ab` command of both sides with another number of processes.

    Returns:
        The command; None if no single command measured both sides.
    """
    return with_options(baseline.command, {"--processes": str(processes)}) if baseline.runs == candidate.runs else None


def make_statistic_command(baseline: Side, candidate: Side, method: Method) -> str | None:
    """Returns the command that compares the same runs by another method.

    Returns:
        The command; None if no command line can name the runs, or measured both sides.
    """
    sides = [baseline] if baseline.runs == candidate.runs else [baseline, candidate]
    names = [one.name for one in sides if one.name is not None]
    if len(names) == len(sides):
        return " ".join(["fastrnns-rs", "compare", shlex.join(names), *list_options(method)])
    if len(sides) > 1:
        return None
    # The run of `ab` was not kept. Its command has the other options, and may name a noise floor, which is refused.
    margin = {"--margin": f"{method.margin:g}"} if method.margin_source == "noise_floor" else {}
    return with_options(baseline.command, {**margin, "--statistic": method.statistic})
