"""Warnings about runners that were timed outside steady state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings.findings import Finding, report_findings, row_names
from fastrnns_rs.machine.warnings.timed_samples import all_positive
from fastrnns_rs.stats import steady_state

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import PlanRecord
    from fastrnns_rs.machine.warnings.timed_samples import TimedProcess, TimedRunner

#: A median hardly changes if 1 in 20 samples is slower.
_LARGEST_SHARE_BEFORE = 0.05
#: Detecting the start of steady state takes milliseconds. Warm-up is a property of the runner, so two processes that
#: agree are sufficient evidence.
_LOOKED_AT = 2
#: Fewer processes deviate by chance: 1 in 100 with autocorrelated samples. Used where processes differ.
_LEAST_STRAYING, _LEAST_STRAYING_SHARE = 2, 0.15
#: Classes without a steady state, or with a steady state slower than an earlier level.
_STRAYING = ("no_steady_state", "slowdown")


def find_warnings(plan: PlanRecord, runners: list[TimedRunner]) -> list[RunWarning]:
    """Returns warnings about runners that were not timed in steady state.

    They did not reach steady state, slowed down, differed between processes, or were timed before the end of warm-up.
    """
    # With other plans, the timed part begins at steady state.
    is_counted = plan.stop.rule == "count" or "nloops" in plan.stop.parameters
    is_exact = plan.warmup.mode == "fixed" or is_counted
    return [
        *report_findings("no_steady_state", _select_class("no_steady_state", runners)),
        *report_findings("slowdown", _select_class("slowdown", runners)),
        *report_findings("inconsistent_warmup", _find_inconsistent(runners)),
        *report_findings("warmup_not_over", _find_early(runners) if is_exact else []),
    ]


def _select_class(warmup_class: str, runners: list[TimedRunner]) -> list[Finding]:
    return [_describe(one, "") for one in runners if one.result.warmup_class == warmup_class]


def _find_inconsistent(runners: list[TimedRunner]) -> list[Finding]:
    """Returns runners of which more processes deviate than by chance."""
    found = []
    for runner in runners:
        classes = Counter(process.record.warmup_class or "unknown" for process in runner.processes)
        straying = sum(classes[one] for one in _STRAYING)
        is_much = straying >= max(_LEAST_STRAYING, _LEAST_STRAYING_SHARE * len(runner.processes))
        if runner.result.warmup_class == "inconsistent" and is_much:
            found.append(_describe(runner, ", ".join(f"{count} {one}" for one, count in classes.most_common())))
    return found


def _find_early(runners: list[TimedRunner]) -> list[Finding]:
    """Returns runners that reach steady state only after many timed samples.

    Each inspected process must do so.
    """
    found = []
    for runner in runners:
        # A few processes, spread over the run, are inspected.
        chosen = runner.processes[:: max(1, len(runner.processes) // _LOOKED_AT)][:_LOOKED_AT]
        late = [begin for process in chosen if (begin := _late_begin(process)) is not None]
        if len(late) == len(chosen):
            given = runner.processes[0].record.steady_from
            found.append(_describe(runner, f"steady from iteration {min(late)}, timed from iteration {given}"))
    return found


def _describe(runner: TimedRunner, text: str) -> Finding:
    return Finding(f"{runner.name}: {text}" if text else runner.name, row_names(runner.name, runner.phases()))


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
    share_before = (steady - begin) / (len(record.forward_ns) - begin)
    return steady if share_before > _LARGEST_SHARE_BEFORE else None
