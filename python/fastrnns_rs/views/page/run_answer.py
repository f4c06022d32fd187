"""First sentences of a run's page: failures, and extreme times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.replicates import count_planned
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import estimate_with_interval, figure
from fastrnns_rs.views.page.parts import Text
from fastrnns_rs.views.plots.run_times import PHASES, measured
from fastrnns_rs.views.run import run_table
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.run_file import PhaseSummary, Result, Run

#: Runners and families that have a sentence, and longest of their names and reasons.
_NAMED, _LONGEST_NAME, _LONGEST_REASON = 3, 60, 300


def sentences(run: Run) -> Iterator[Text]:
    """Yields the failures of a run, then a sentence for each family and phase."""
    yield from (Text(one, "alert") for one in alerts(run))
    results = measured(run)
    if not results:
        yield Text("No runner was measured.", "answer")
    families = dict.fromkeys(one.group for one in results)
    for family in [*families][:_NAMED]:
        own = [one for one in results if one.group == family]
        for phase in PHASES:
            if times := [(one, found) for one in own if (found := getattr(one, phase)) is not None]:
                start = f"{visible(family)} {phase}" if len(families) > 1 else phase.capitalize()
                yield Text(f"{start} takes {_extremes(times)}.", "answer")
    if len(families) > _NAMED:
        yield Text(f"{counted(len(families) - _NAMED, 'more family', 'more families')} in the table.")


def alerts(run: Run) -> Iterator[str]:
    """Yields the status of an incomplete run, and why runners failed."""
    if run.status == "interrupted":
        done = sum(process.status == "ok" for one in run.results for process in one.processes)
        # Precision decides the number of processes.
        amount = counted(done, "process", "processes") + " measured"
        if run.plan.stop.rule != "precision":
            amount = f"{done:,} of {count_planned(run):,} planned processes were measured"
        yield f"The run was interrupted: {amount}."
    elif run.status != "complete":
        yield f"The run {run.status}."
    failed = [one for one in run.results if one.status not in {"ok", "skipped"}]
    for one in failed[:_NAMED]:
        outcome = fit(visible(run_table.outcome(one)), _LONGEST_REASON)
        yield f"{short_name(one)}: {outcome}"
    if len(failed) > _NAMED:
        yield f"{counted(len(failed) - _NAMED, 'more runner')} failed."


def short_name(result: Result) -> str:
    """Returns the name of a row for a sentence or a heading; tables have whole names."""
    return fit(visible(run_table.name(result)), _LONGEST_NAME)


def _extremes(times: Sequence[tuple[Result, PhaseSummary]]) -> str:
    """Returns `0.52 ms (cudnn) to 2.10 ms (py), ×4.04`."""
    ordered = sorted(times, key=lambda one: one[1].estimate_ns)
    (first, short), (last, long) = ordered[0], ordered[-1]
    text = f"{brief(short)} ({short_name(first)})"
    if len(ordered) == 1:
        return text
    factor = f", ×{figure(long.estimate_ns / short.estimate_ns)}" if short.estimate_ns else ""
    return f"{text} to {brief(long)} ({short_name(last)}){factor}"


def brief(one: PhaseSummary) -> str:
    """Returns a time with its interval, as `5.87 [5.84, 5.93] ms`."""
    scale = Scale([one.estimate_ns])
    return f"{estimate_with_interval(one.estimate_ns, *run_table.interval_ends(one), scale.ns)} {scale.unit}"
