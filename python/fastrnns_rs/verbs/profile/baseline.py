"""What ran without the profiler, and how much longer the captured iterations took with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.replicates import median
from fastrnns_rs.verbs.profile import assessment
from fastrnns_rs.verbs.profile.attempt import end_of

if TYPE_CHECKING:
    from fastrnns_rs.verbs.profile.attempt import Ended

_UNKNOWN = "how much longer the iterations take under the profiler is not known"


class Baseline(NamedTuple):
    """The run without the profiler.

    Attributes:
        completed: How it ended.
        answer: What it says of itself; empty if it died before it could.
    """

    completed: Ended
    answer: dict[str, Any]

    @property
    def all_failed(self) -> bool:
        """Whether it ran to its end and no runner ended well."""
        return bool(self.answer.get("finished")) and not _well(self.answer)

    def trouble(self, where_printed: str) -> Notice | None:
        """What to say where it did not run to its end.

        Args:
            where_printed: Where to look for what it printed.
        """
        if self.answer.get("finished"):
            return None
        refusal = self.answer.get("refusal")
        why = refusal["message"] if refusal else end_of(self.completed)
        hint = "give --timeout more seconds, or --no-baseline" if self.completed.timed_out else where_printed
        message = f"the run without the profiler failed: {why}; {_UNKNOWN}"
        return Notice(code="baseline_failed", message=message, hint=hint)

    def iteration_ns(self, captured: list[int]) -> dict[str, int]:
        """How long one iteration takes without the profiler, by runner that ended well.

        The median of those iterations that the profiler captures, each the time of its forward and its backward phase.
        What stands between the phases, such as zeroing gradients, is in none of them.

        Args:
            captured: The iterations that are captured.
        """
        return {name: round(median(_took(one, captured))) for name, one in _well(self.answer).items()}

    def ratio(self, captured: list[int], profiled: dict[str, Any]) -> tuple[float | None, Notice | None]:
        """How much longer the captured iterations took under the profiler, of all runners together.

        Args:
            captured: The iterations that were captured.
            profiled: What the process under the profiler says of itself.

        Returns:
            The ratio, and what to say where there is none: a ratio of some runners would pass for that of all.
        """
        with_it, without_it = _well(profiled), _well(self.answer)
        if with_it.keys() == without_it.keys():
            return assessment.ratio(captured, self.answer, profiled), None
        # Where nothing was captured, or nothing else ran to its end, that has been said.
        if not with_it or not self.answer.get("finished"):
            return None, None
        sides = (("without", with_it.keys() - without_it.keys()), ("under", without_it.keys() - with_it.keys()))
        failed = [f"{', '.join(sorted(names))} failed {where} the profiler" for where, names in sides if names]
        message = f"{' and '.join(failed)}: {_UNKNOWN}"
        hint = "the log has the ratios of the other runners" if with_it.keys() & without_it.keys() else None
        return None, Notice(code="baseline_differs", message=message, hint=hint)

    def interval(self, captured: list[int], profiled: dict[str, Any]) -> tuple[float, float] | None:
        """The 95 % interval of the ratio; None where there is no ratio, or too few iterations."""
        ratio, _ = self.ratio(captured, profiled)
        return None if ratio is None else assessment.interval(captured, self.answer, profiled)

    def described(self, captured: list[int], profiled: dict[str, Any]) -> list[str]:
        """A line for each runner that ended well in both: its ratio, and how far to trust it."""
        without_it, lines = _well(self.answer), []
        for name, one in _well(profiled).items():
            other = without_it.get(name)
            ratio = assessment.ratio(captured, self.answer, {"runners": [one]})
            if other is not None and ratio is not None:
                ranges = f"{_range(other, captured)} without it, {_range(one, captured)} under it"
                lines.append(f"# {name}: {ratio:.2f} times as long under the profiler; iterations took {ranges}")
        return lines


def _range(runner: dict[str, Any], captured: list[int]) -> str:
    """The shortest and the longest of the captured iterations."""
    took = _took(runner, captured)
    return f"{min(took) / 1e6:.3f} to {max(took) / 1e6:.3f} ms"


def _took(runner: dict[str, Any], captured: list[int]) -> list[int]:
    """How long each of the captured iterations took, all phases together."""
    return [runner["forward_ns"][one] + (runner["backward_ns"] or {one: 0})[one] for one in captured]


def _well(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in answer.get("runners", []) if one["status"] == "ok"}
