"""Run without the profiler, and the slowdown of the captured iterations."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs._core import median_ci
from fastrnns_rs.documents.replicates import median
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.profile.attempt import describe_end

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.verbs.profile.attempt import Ended

#: With fewer iterations, the ratio has no interval.
_FEWEST = 10


class Baseline(NamedTuple):
    """Run without the profiler.

    Attributes:
        completed: End of the process.
        answer: Report of the process; empty if it died before its report.
    """

    completed: Ended
    answer: dict[str, Any]

    @property
    def all_failed(self) -> bool:
        """True if the run is complete and no runner ended well."""
        return bool(self.answer.get("finished")) and not _well(self.answer)

    def failure(self, log: Path | None) -> RunWarning | None:
        """Returns a warning if the run is not complete; None otherwise.

        Args:
            log: File with the output of the run; None if the output is not kept.
        """
        if self.answer.get("finished"):
            return None
        refusal = self.answer.get("refusal")
        why = refusal["message"] if refusal else describe_end(self.completed)
        hint = "" if log is None else f"Read the output of the run: less {shlex.quote(str(log))}"
        if self.completed.timed_out:
            hint = "Give the run more time: fastrnns-rs profile --timeout SECONDS RUNNER"
        return make_warning("baseline_failed", evidence=why, hint=hint)

    def iteration_ns(self, captured: Sequence[int]) -> dict[str, int]:
        """Returns the time of one iteration without the profiler, by successful runner.

        The time is the median over the captured iterations, in nanoseconds. Each iteration is the sum of its forward
        and backward phase. Steps between the phases, such as zeroing gradients, are not included.

        Args:
            captured: Indices of the captured iterations.
        """
        return {name: round(median(_took(one, captured))) for name, one in _well(self.answer).items()}

    def ratio(self, captured: Sequence[int], profiled: dict[str, Any]) -> tuple[float | None, RunWarning | None]:
        """Returns the slowdown of the captured iterations over all runners.

        Args:
            captured: Indices of the captured iterations.
            profiled: Report of the process under the profiler.

        Returns:
            The ratio, and a warning if there is no ratio. The ratio is omitted if only some
            runners succeeded, since readers would take it for the ratio of all runners.
        """
        with_it, without_it = _well(profiled), _well(self.answer)
        if with_it.keys() == without_it.keys():
            return _ratio(captured, with_it, without_it), None
        # If nothing was captured, or the baseline is incomplete, there is already a warning.
        if not with_it or not self.answer.get("finished"):
            return None, None
        sides = (("without", with_it.keys() - without_it.keys()), ("under", without_it.keys() - with_it.keys()))
        failed = [f"{', '.join(sorted(names))} failed {where} the profiler" for where, names in sides if names]
        return None, make_warning("baseline_differs", evidence=" and ".join(failed))

    def interval(self, captured: Sequence[int], profiled: dict[str, Any]) -> tuple[float, float] | None:
        """Returns the 95 % interval of the ratio within these two processes.

        It combines the intervals of the medians, which take account of autocorrelation. The distances of independent
        estimates from their ends add up as squares (the MOVER method): of the runners, then of both sums in logarithms.

        Returns:
            None if there is no ratio, or too few iterations.
        """
        ratio, _ = self.ratio(captured, profiled)
        if not ratio or len(captured) < _FEWEST:
            return None
        over, under = (_sum_interval(captured, _well(one)) for one in (profiled, self.answer))
        if min(*over, *under) <= 0:
            return None
        # The ends of the time without the profiler change places in the ratio.
        low = math.hypot(math.log(over[1] / over[0]), math.log(under[2] / under[1]))
        high = math.hypot(math.log(over[2] / over[1]), math.log(under[1] / under[0]))
        return ratio * math.exp(-low), ratio * math.exp(high)

    def described(self, captured: Sequence[int], profiled: dict[str, Any]) -> list[str]:
        """Returns a log line for each runner that succeeded in both runs.

        The line has the ratio and the ranges of both times.
        """
        without_it, lines = _well(self.answer), []
        for name, one in _well(profiled).items():
            other = without_it.get(name)
            ratio = None if other is None else _ratio(captured, {name: one}, {name: other})
            if other is not None and ratio is not None:
                ranges = f"{_range(other, captured)} without it, {_range(one, captured)} under it"
                lines.append(f"# {name}: {ratio:.2f} times as long under the profiler; iterations took {ranges}")
        return lines


def _ratio(captured: Sequence[int], with_it: dict[str, Any], without_it: dict[str, Any]) -> float | None:
    """Returns the ratio of two sums of the runners' median iterations."""
    over, under = (sum(median(_took(one, captured)) for one in side.values()) for side in (with_it, without_it))
    return over / under if under else None


def _sum_interval(captured: Sequence[int], runners: dict[str, Any]) -> tuple[float, float, float]:
    """Returns the sum of the runners' median iterations, between its ends."""
    found = [median_ci(_took(one, captured)) for one in runners.values()]
    total = sum(one.estimate for one in found)
    # Intervals of so many samples have ends.
    low = math.hypot(*(one.estimate - (one.ci_low or 0.0) for one in found))
    high = math.hypot(*((one.ci_high or 0.0) - one.estimate for one in found))
    return total - low, total, total + high


def _range(runner: dict[str, Any], captured: Sequence[int]) -> str:
    """Returns the shortest and the longest time of the captured iterations."""
    took = _took(runner, captured)
    return f"{min(took) / 1e6:.3f} to {max(took) / 1e6:.3f} ms"


def _took(runner: dict[str, Any], captured: Sequence[int]) -> list[int]:
    """Returns the time of each captured iteration, summed over its phases."""
    return [runner["forward_ns"][one] + (runner["backward_ns"] or {one: 0})[one] for one in captured]


def _well(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in answer.get("runners", []) if one["status"] == "ok"}
