"""Matching of the series of two sides, and conflicts that forbid a comparison."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from fastrnns_rs.documents.row_names import titles
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.side import Series, identity, sizes

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Level, Side

    Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two series that are compared, or one series without a partner.

    Attributes:
        name: Name of the runner; both names if two different runners are compared.
        baseline: Series of the baseline; None if the runner is only in the candidate.
        candidate: Series of the candidate; None if the runner is only in the baseline.
        conflicts: Reasons against the comparison, such as "device cpu and cuda".
        intended: Requested differences, in the same words.
        title: Unique name of the row in messages.
    """

    name: str
    baseline: Series | None
    candidate: Series | None
    conflicts: list[str]
    intended: list[str]
    title: str = ""

    @property
    def series(self) -> Series:
        """The baseline's series if it exists, otherwise the candidate's."""
        found = self.baseline or self.candidate
        assert found is not None  # noqa: S101  # `match` makes no pair of nothing
        return found

    def with_statistic(self, statistic: Level) -> Pair:
        """Returns the pair with another compared statistic of both series."""
        first, second = (one and one.with_statistic(statistic) for one in (self.baseline, self.candidate))
        return replace(self, baseline=first, candidate=second)

    @property
    def measured(self) -> bool:
        """True if a side has numbers, or a time of 0."""
        sides = (self.baseline, self.candidate)
        return any(one is not None and (one.medians_ns or one.has_no_time) for one in sides)


def match(baseline: Side, candidate: Side, *, intended: bool = False) -> list[Pair]:
    """Pairs the series of two sides by runner and phase.

    Repeated runners are also paired by problem.

    Args:
        baseline: Baseline side.
        candidate: Candidate side.
        intended: True if the sides differ on request, as in `ab`. Then one runner of each side makes a pair under two
            names, and different problems and modes are not conflicts.

    Returns:
        Pairs in the order of the baseline, then the pairs that only the candidate has.

    Raises:
        UsageError: If the sides have nothing in common.
    """
    for side in (baseline, candidate):
        if not side.series:
            name = " ".join(side.files) or side.label
            raise UsageError(f"no results in file: {name!r}", "Use a run with results.", value=name)
    across = intended and _only_runner(baseline) != _only_runner(candidate)
    first, second = _by_key(baseline, across=across), _by_key(candidate, across=across)
    pairs = [
        _pair(one, other, intended=intended)
        for key in {**first, **second}
        for one, other in _partners(first.get(key, []), second.get(key, []))
    ]
    if not any(pair.baseline and pair.candidate for pair in pairs):
        _refuse_strangers(first, second)
    # If neither side measured the backward phase, the forward row reports the reason.
    rows = [pair for pair in pairs if pair.series.phase != "backward" or pair.measured]
    each = [(pair.name, pair.series) for pair in rows]
    named = titles([(name, one.phase, one.problem.by_name() if one.problem else None) for name, one in each])
    return [replace(pair, title=title) for pair, title in zip(rows, named, strict=True)]


def _refuse_strangers(first: dict[Key, list[Series]], second: dict[Key, list[Series]]) -> NoReturn:
    """Raises the error that explains why two sides have nothing in common."""
    for key, series in first.items():
        if key in second:
            problems = [sizes(one) for one in (*series, *second[key])]
            keys = [name for name in problems[0] if any(one.get(name) != problems[0][name] for one in problems)]
            what = ", ".join(key.replace("_", "-") for key in keys) or "timing mode"
            message = f"no common problem: {series[0].runner} differs in {what}"
            raise UsageError(message, "Measure baseline and candidate with the same options.")
    runners = [[one.runner for found in side.values() for one in found] for side in (first, second)]
    names = [", ".join(dict.fromkeys(one)) for one in runners]
    message = f"no common runner: {names[0]} in the baseline, and {names[1]} in the candidate"
    raise UsageError(message, "Measure the same runners in both runs.")


def _by_key(side: Side, *, across: bool) -> dict[Key, list[Series]]:
    found: dict[Key, list[Series]] = {}
    for one in side.series:
        found.setdefault(("" if across else one.runner, one.phase), []).append(one)
    return found


def _only_runner(side: Side) -> str | None:
    """Returns the runner of a side that has only one; None otherwise."""
    runners = {one.runner for one in side.series}
    return next(iter(runners)) if len(runners) == 1 else None


def _partners(first: list[Series], second: list[Series]) -> Iterator[tuple[Series | None, Series | None]]:
    """Yields pairs of equal series, then series without a partner.

    If no series are equal and both sides have the same number, series are paired by position. Their differences become
    conflicts or labels. If two sweeps share some points, the other points have no partner.
    """
    left: dict[Hashable, list[Series]] = {}
    for one in second:
        left.setdefault(_untimed(one), []).append(one)
    partners: list[Series | None] = []
    for one in first:
        candidates = left.get(_untimed(one), [])
        place = next((place for place, other in enumerate(candidates) if _may_share_timing(one, other)), None)
        partners.append(None if place is None else candidates.pop(place))
    if len(first) == len(second) and not any(partners):
        partners = [*second]
    found = {id(partner) for partner in partners}
    yield from zip(first, partners, strict=True)
    yield from ((None, other) for other in second if id(other) not in found)


def _untimed(one: Series) -> Hashable:
    """Returns the key of a series' measurement, without the timing mode."""
    return identity(replace(one, timing_mode=None))


def _may_share_timing(one: Series, other: Series) -> bool:
    """Returns True if two series may have the same timing mode.

    The timing mode is unknown if no process completed.
    """
    return None in {one.timing_mode, other.timing_mode} or one.timing_mode == other.timing_mode


def _pair(one: Series | None, other: Series | None, *, intended: bool) -> Pair:
    names = dict.fromkeys(series.runner for series in (one, other) if series is not None)
    conflicts: list[str] = []
    meant: list[str] = []
    if one is not None and other is not None and not one.reason and not other.reason:
        conflicts += _differ("timing mode", one.timing_mode, other.timing_mode)
        first, second = sizes(one), sizes(other)
        conflicts += _differ("device", first.get("device"), second.get("device"))
        problem = [
            f"{key.replace('_', '-')} {first.get(key)} and {second.get(key)}"
            for key in {**first, **second}
            if key not in {"device", "mode"} and first.get(key) != second.get(key)
        ]
        (meant if intended else conflicts).extend([*_differ("mode", one.mode, other.mode), *problem])
    return Pair(name=" / ".join(names), baseline=one, candidate=other, conflicts=conflicts, intended=meant)


def _differ(what: str, one: Any, other: Any) -> list[str]:
    return [] if one == other else [f"{what} {one} and {other}"]
