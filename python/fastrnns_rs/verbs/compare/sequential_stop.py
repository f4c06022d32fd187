"""Verdicts of a running `ab`, for `--until decided`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.verbs.compare.compared_sources import compare_sources

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Statistic
    from fastrnns_rs.documents.run_file import Run

#: Verdicts that end a measurement.
_VERDICTS = {"faster", "slower", "equivalent"}


def find_decided(run: Run, *, margin: float | str | None, force: bool, statistic: Statistic) -> set[str]:
    """Returns the runners whose rows all have a verdict.

    The verdicts hold for the whole table. The comparison of a run that stops by its verdicts uses anytime-valid
    intervals, so that looking after each pair causes no additional false alarms.

    Args:
        run: Run of `ab` so far.
        margin: Equivalence margin; see `compare_sources`.
        force: Compare rows that conflict.
        statistic: Statistic of each process that is judged.
    """
    # After a round, both sides have the same number of processes, as in a complete run.
    whole = replace(run, status="complete")
    verdicts: defaultdict[str, set[str | None]] = defaultdict(set)
    for row in compare_sources([whole], [], margin=margin, force=force, statistic=statistic).comparison.rows:
        if row.baseline is not None and row.candidate is not None:
            verdicts[row.runner].add(row.verdict)
    return {runner for runner, found in verdicts.items() if found <= _VERDICTS}


def describe_end(run: Run) -> str | None:
    """Returns the number of pairs of a run by verdicts, and why it ended.

    Returns:
        One sentence; None for other runs.
    """
    if run.plan.stop.rule != "decided" or run.status != "complete":
        return None
    counts = sorted({len(result.processes) for result in run.results if result.status == "ok"})
    amount = f"{counts[0]} to {counts[-1]} pairs" if len(counts) > 1 else counted(sum(counts), "pair")
    if run.plan.stopped_by == "decided":
        each = "every row with a time above 0 ns" if _has_zero(run) else "every row"
        return f"Stopped after {amount}, because {each} has a verdict."
    return f"Stopped after {amount}, the largest number (--processes), without a verdict on every row."


def _has_zero(run: Run) -> bool:
    """Returns True if a process has a median of 0 ns: its row has no verdict."""
    processes = [process for result in run.results for process in result.processes]
    return any(process.median_ns(phase) == 0 for process in processes for phase in ("forward", "backward"))
