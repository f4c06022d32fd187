"""What is not compared, for no verdict could be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.verbs.compare.series_matching import Pair
    from fastrnns_rs.verbs.compare.side import Side


def refuse_shared_runs(baseline: Side, candidate: Side) -> None:
    """Refuses a run that is on both sides: its processes are no evidence of a difference, nor of none.

    Two sides that are the same throughout are let pass, and warned of.

    Raises:
        UsageError: There is such a run.
    """
    shared = {*baseline.runs} & {*candidate.runs}
    if shared and [one.medians_ns for one in baseline.series] != [one.medians_ns for one in candidate.series]:
        places = [
            file
            for side in (baseline, candidate)
            for file, run in zip(side.files, side.runs, strict=True)
            if run == min(shared)
        ]
        message = f"{places[0]} of the baseline and {places[1]} of the candidate hold the same run"
        raise UsageError(message, "give each run to one side")


def refuse_conflicts(pairs: Sequence[Pair]) -> None:
    """Refuses pairs that do not belong together.

    Raises:
        UsageError: There are such; the message names the first and its reasons.
    """
    found = [pair for pair in pairs if pair.conflicts]
    if found:
        more = f" (and so of {len(found) - 1} more rows)" if len(found) > 1 else ""
        message = f"{found[0].title}: {'; '.join(found[0].conflicts)}{more}"
        raise UsageError(message, "measure both sides alike; --force compares them all the same, and labels the rows")
