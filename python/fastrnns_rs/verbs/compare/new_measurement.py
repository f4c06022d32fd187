"""Words of commands that measure the rows of a comparison again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from fastrnns_rs.documents.measuring_command import with_processes

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    return with_processes(baseline.command, processes) if baseline.runs == candidate.runs else None
