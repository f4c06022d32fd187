"""Warnings about runners that were timed outside steady state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.timed_samples import all_positive
from fastrnns_rs.machine.warnings.warning import caution, listed
from fastrnns_rs.stats import steady_state

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import PlanRecord
    from fastrnns_rs.machine.warnings.timed_samples import TimedProcess, TimedRunner

#: A median hardly changes if 1 in 20 samples is slower.
_MOST_UNSETTLED = 0.05
#: Detecting the start of steady state takes milliseconds. Warm-up is a property of the runner, so two processes that
#: agree are sufficient evidence.
_LOOKED_AT = 2
#: Fewer processes deviate by chance: 1 in 100 with autocorrelated samples. Used where processes differ.
_LEAST_STRAYING, _LEAST_STRAYING_SHARE = 2, 0.15
#: Classes without a steady state, or with a steady state slower than an earlier level.
_STRAYING = ("no_steady_state", "slowdown")


def cautions(plan: PlanRecord, runners: list[TimedRunner]) -> list[Notice]:
    """Returns warnings about runners that were not timed in steady state.

    They did not reach steady state, slowed down, differed between processes, or were timed before the end of warm-up.
    """
    found = []
    if restless := _of_class("no_steady_state", runners):
        message = "times never settled: the estimate is of what is not steady"
        hint = "let each process run longer; look for other work on the machine"
        found.append(caution("no_steady_state", message, evidence=restless, hint=hint))
    if slowed := _of_class("slowdown", runners):
        message = "times got longer before they settled"
        hint = "look at heat and clock frequency, and at memory that grows"
        found.append(caution("slowdown", message, evidence=slowed, hint=hint))
    if differing := _inconsistent(runners):
        message = "some processes settle, others do not or slow down"
        hint = "compare process by process in the run file; give more --processes"
        found.append(caution("inconsistent_warmup", message, evidence=differing, hint=hint))
    # With other plans, the timed part begins at steady state.
    is_exact = plan.warmup.mode == "fixed" or plan.stop.rule == "count"
    if is_exact and (early := _timed_too_early(runners)):
        message = "the warm-up ended before times were steady"
        hint = "give a longer --warmup, or none: then it is detected"
        found.append(caution("warmup_not_over", message, evidence=early, hint=hint))
    return found


def _of_class(warmup_class: str, runners: list[TimedRunner]) -> str:
    return listed([runner.name for runner in runners if runner.result.warmup_class == warmup_class])


def _inconsistent(runners: list[TimedRunner]) -> str:
    """Lists runners of which more processes deviate than by chance."""
    named = []
    for runner in runners:
        classes = Counter(process.record.warmup_class or "unknown" for process in runner.processes)
        straying = sum(classes[one] for one in _STRAYING)
        is_much = straying >= max(_LEAST_STRAYING, _LEAST_STRAYING_SHARE * len(runner.processes))
        if runner.result.warmup_class == "inconsistent" and is_much:
            named.append(f"{runner.name}: " + ", ".join(f"{count} {one}" for one, count in classes.most_common()))
    return listed(named)


def _timed_too_early(runners: list[TimedRunner]) -> str:
    """Lists runners that reach steady state only after many timed samples.

    Each inspected process must do so.
    """
    named = []
    for runner in runners:
        # A few processes, spread over the run, are inspected.
        chosen = runner.processes[:: max(1, len(runner.processes) // _LOOKED_AT)][:_LOOKED_AT]
        late = [begin for process in chosen if (begin := _late_begin(process)) is not None]
        if len(late) == len(chosen):
            given = runner.processes[0].record.steady_from
            named.append(f"{runner.name}: steady from iteration {min(late)}, timed from {given}")
    return listed(named)


def _late_begin(process: TimedProcess) -> int | None:
    """Returns the first steady iteration; None if few samples precede it."""
    record = process.record
    begin = record.steady_from or 0
    if record.warmup_class not in {"warmup", None}:
        return None
    # The first iteration is a separate figure.
    phases = [record.forward_ns[1:], *([] if record.backward_ns is None else [record.backward_ns[1:]])]
    if not all(all_positive(samples) for samples in phases):
        return None
    begins = [steady_state(samples).steady_from for samples in phases]
    steady = 1 + max((one for one in begins if one is not None), default=-1)
    unsettled = (steady - begin) / (len(record.forward_ns) - begin)
    return steady if unsettled > _MOST_UNSETTLED else None
