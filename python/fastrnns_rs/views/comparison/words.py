"""Words and figures of a comparison that several formats share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.comparison import Counts
from fastrnns_rs.documents.layout import flat
from fastrnns_rs.documents.row_names import distinctions
from fastrnns_rs.documents.side_warnings import merge_warnings, omit_warnings
from fastrnns_rs.views.text import shell_word
from fastrnns_rs.views.units import percent
from fastrnns_rs.views.units import ratio as show_ratio

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.comparison import (
        Change,
        Compared,
        Comparison,
        Figures,
        GeometricMean,
        Method,
        Row,
        StatisticChange,
    )

    Judged: TypeAlias = Row | Change | GeometricMean | StatisticChange

_COUNTED = ("slower", "faster", "equivalent", "inconclusive")
_ROUNDS_TO_NOTHING = 0.005
_TWO_DECIMALS_FIT = 1e5
_HALF = 0.5
#: Text for an unknown number.
UNKNOWN = "-"
#: A forced comparison begins with this text, because the rest may look like any other comparison.
FORCED = "FORCED: the two sides do not match, and were compared all the same"
SOURCES = {"default": "default", "option": "as asked", "noise_floor": "this machine's noise floor"}
#: Each verdict has a sign and a word; the arrow is the direction of the time.
VERDICTS = {
    "faster": "↓ faster",
    "slower": "↑ slower",
    "equivalent": "= equivalent",
    "inconclusive": "? inconclusive",
    None: "- no verdict",
}
#: Statistics of a process, as words and as the noun of several processes.
STATISTICS: dict[str, tuple[str, str]] = {
    "median": ("median", "medians"),
    "mean": ("mean", "means"),
    "p95": ("95th percentile", "95th percentiles"),
}
#: Variation that an interval includes, by the `basis` of its row.
BASES = {
    "interleaved": "Both sides were measured in the same session. The interval includes the variation between its "
    "processes.",
    "sessions": "Sessions are the replicates. The interval includes the variation between sessions.",
    "history": "The interval includes the variation between sessions: those of the history, and those of a side that "
    "has several.",
    "two_sessions": "The sides were measured in different sessions, which differ by an unknown amount. The interval "
    "includes the variation between processes only: a verdict is conditional, and in parentheses.",
    None: "The sessions are unknown. The interval, if there is one, includes the variation between processes only.",
}
#: A suggested number has one digit from the first limit on. Above the second limit, no number is suggested.
_ROUNDED_FROM, MOST_SUGGESTED = 20, 200
#: Text in place of a suggested number.
NEVER = "never"


class NamedRow:
    """Row of a comparison of runs.

    Attributes:
        row: The row.
        title: Runner, for a table with a column for the phase.
        name: `runner/phase`, by which a row is requested. The runner alone in files without phases.
    """

    def __init__(self, row: Row, distinction: str) -> None:
        self.row = row
        self.title = row.runner + distinction
        self.name = self.title if row.phase is None else f"{row.runner}/{row.phase}{distinction}"

    @property
    def broke(self) -> bool:
        """True if there is no verdict because a side failed, not for lack of data.

        A runner that failed in the baseline, and was measured in the candidate, is no fault of the candidate.
        """
        reason = self.row.reason or ""
        of_baseline = reason.endswith("(in the baseline)") and self.row.candidate is not None
        # A reason may contain the reasons of both sides.
        failed = any(one.startswith(("failed", "timed out")) for one in reason.split("; "))
        return failed and not of_baseline and choose_verdict(self.row) is None

    def notes(self) -> Iterator[tuple[str, bool]]:
        """Yields notes that the figures do not show.

        The notes are the label, the reason for no verdict, and the processes needed for a verdict.

        Yields:
            Each note, and True if its text is from the document and must be escaped.
        """
        row = self.row
        inconclusive = row.verdict == "inconclusive"
        if row.label:
            yield row.label, True
        undecided = inconclusive and (row.additional_processes is None or self.is_overruled)
        if row.reason and (choose_verdict(row) is None or undecided):
            yield row.reason, True
        needed = suggested_processes(row) if inconclusive else None
        if needed == NEVER:
            yield f"cannot be decided with {MOST_SUGGESTED} processes per side", False
        elif needed is not None:
            yield f"needs a new comparison with about {needed} processes per side", False

    @property
    def is_overruled(self) -> bool:
        """True if the interval of the inconclusive row excludes 1.

        Among many rows, the intervals of a few exclude 1 by chance.
        """
        return self.row.verdict == "inconclusive" and _excludes_1(self.row)


def _excludes_1(row: Row) -> bool:
    low, high = row.ratio_ci_low, row.ratio_ci_high
    return (low is not None and low > 1.0) or (high is not None and high < 1.0)


def choose_verdict(found: Row | Change) -> str | None:
    """Returns the verdict, else the conditional verdict."""
    return found.verdict or getattr(found, "conditional_verdict", None)


def verdict(found: Row | Change) -> str:
    """Returns `↑ slower`; `(↑ slower)` for a verdict about two sessions only."""
    shown = VERDICTS[choose_verdict(found)]
    return shown if found.verdict is not None or choose_verdict(found) is None else f"({shown})"


def sessions(comparison: Comparison) -> str | None:
    """Returns the standard deviation between sessions and the number of sessions.

    The text is `sessions: standard deviation 0.6 % between sessions, from 11 sessions`. Returns None if no row has
    these figures from the history.
    """
    known = [(row.session_stddev, row.history_sessions) for row in comparison.rows if row.basis == "history"]
    spreads = sorted(spread for spread, _ in known if spread is not None)
    counts = sorted(count for _, count in known if count is not None)
    if not spreads or not counts:
        return None
    spread, count = (
        " to ".join(dict.fromkeys((text(values[0]), text(values[-1]))))
        for values, text in ((spreads, lambda value: f"{100 * value:.1f}"), (counts, str))
    )
    return f"sessions: standard deviation {spread} % between sessions, from {count} sessions"


def _required(row: Row) -> int | None:
    """Returns the processes per side that a new comparison needs.

    Older documents contain the number of additional processes instead.
    """
    if row.required_processes is not None or row.additional_processes is None:
        return row.required_processes
    return row.additional_processes + max(side.n_processes for side in (row.baseline, row.candidate) if side)


def suggested_processes(row: Row) -> str | None:
    """Returns the rounded number of processes per side that an open row needs.

    Returns `NEVER` if the number is too large, and None for a row without a suggestion.
    """
    needed = _required(row)
    if needed is None:
        # Numbers above 100,000 are not computed. More processes do not replace sessions, and a row whose interval
        # excludes 1 has too few pairs for an estimate.
        is_open = row.verdict == "inconclusive" and row.basis not in {"sessions", "history"}
        return NEVER if is_open and not _excludes_1(row) else None
    if needed > MOST_SUGGESTED:
        return NEVER
    return f"{float(f'{needed:.1g}'):.0f}" if needed >= _ROUNDED_FROM else str(needed)


def named_rows(comparison: Comparison) -> list[NamedRow]:
    """Returns the rows with names that differ.

    If rows have the same runner and phase, their names contain the differences of their problems.
    """
    rows = comparison.rows
    keys: list[Any] = [(row.runner, row.phase, None if row.problem is None else to_plain(row.problem)) for row in rows]
    return [NamedRow(row, distinction) for row, distinction in zip(rows, distinctions(keys), strict=True)]


def ratio(value: float | None) -> str:
    """Formats a ratio; a dash if it is unknown."""
    return UNKNOWN if value is None else show_ratio(value)


def interval(found: Judged) -> str:
    """Formats the interval as `[1.018, 1.047]`; a dash if it is unknown."""
    low, high = found.ratio_ci_low, found.ratio_ci_high
    return UNKNOWN if low is None or high is None else f"[{show_ratio(low)}, {show_ratio(high)}]"


def ratio_with_interval(found: Judged) -> str:
    """Formats `1.032 [1.018, 1.047]`; the ratio alone if the interval is unknown."""
    shown = interval(found)
    return ratio(found.ratio) if shown == UNKNOWN else f"{ratio(found.ratio)} {shown}"


def change(value: float | None) -> str:
    """Formats a ratio as a change in percent, with a sign.

    Two decimals are shown while they fit.

    >>> [change(ratio) for ratio in (1.0321, 0.5, 1.00006, 0.99999, 1e6, None)]
    ['+3.21', '-50.00', '+0.01', '0.00', '+1.000e8', '-']
    """
    if value is None:
        return UNKNOWN
    changed = (value - 1.0) * 100.0
    # A change that rounds to 0 has no sign.
    if abs(changed) < _ROUNDS_TO_NOTHING:
        return "0.00"
    return f"{changed:+.2f}" if abs(changed) < _TWO_DECIMALS_FIT else f"+{show_ratio(changed)}"


def processes(row: Row) -> str:
    """Returns `10+10`: processes of the baseline, then of the candidate."""

    def count(side: Figures | None) -> int:
        return 0 if side is None else side.n_processes

    both = (count(row.baseline), count(row.candidate))
    return UNKNOWN if both == (0, 0) else f"{both[0]}+{both[1]}"


def counts(comparison: Comparison) -> str:
    """Returns the numbers of verdicts, and of conditional verdicts.

    The text is `1 slower, 0 faster, 2 equivalent, 0 inconclusive; 1 of these in parentheses`.
    """
    conditional = sum(getattr(comparison.conditional_counts, name) for name in _COUNTED)
    text = verdict_counts(comparison)
    return f"{text}; {conditional} of these in parentheses" if conditional else text


def verdict_counts(comparison: Comparison, margin: str = "", *, zeros: bool = True) -> str:
    """Returns `1 slower, 0 faster, 2 equivalent, 0 inconclusive`.

    The rows without a verdict follow, if there are some.

    Args:
        comparison: Comparison.
        margin: Text after the number of equivalent rows.
        zeros: False leaves out verdicts that no row has.
    """
    both = (comparison.counts, comparison.conditional_counts)
    found = Counts(**{name: sum(getattr(one, name) for one in both) for name in (*_COUNTED, "none")})
    return format_counts(found, margin, zeros=zeros)


def format_counts(found: Counts, margin: str = "", *, zeros: bool = True) -> str:
    """Formats numbers of verdicts; see `verdict_counts`."""
    counts = {name: getattr(found, name) for name in _COUNTED if zeros or getattr(found, name)}
    shown = [f"{count:,} {name}{margin if name == 'equivalent' else ''}" for name, count in counts.items()]
    return ", ".join([*shown, *([f"{found.none:,} without a verdict"] if found.none else [])])


def nonzero_counts(comparison: Comparison) -> str:
    """Returns `1 slower, 2 equivalent`, without verdicts that no row has."""
    return verdict_counts(comparison, zeros=False) or "no rows"


def counts_with_margin(comparison: Comparison, *, zeros: bool = True) -> str:
    """Returns the numbers of verdicts and the margin.

    Without `zeros`, verdicts that no row has are left out.
    """
    source = ", the noise floor of this machine" if comparison.method.margin_source == "noise_floor" else ""
    return verdict_counts(comparison, f" (within ±{format_margin(comparison.method)}{source})", zeros=zeros)


def own_warnings(comparison: Comparison) -> list[RunWarning]:
    """Returns the warnings of a comparison without those that its runs contain."""
    stored = merge_warnings(comparison.baseline.warnings, comparison.candidate.warnings)
    return omit_warnings(comparison.warnings, stored)


def stored_warnings(comparison: Comparison, named: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Returns lines with the number of warnings of each run, and the command.

    An example is `1 warning of the candidate: fastrnns-rs show @last`.

    Args:
        comparison: Comparison.
        named: Words of a command for files that have a shorter name than their path.
    """
    both = (("baseline", comparison.baseline), ("candidate", comparison.candidate))
    sides = [(f"the {name}", side) for name, side in both if side.warnings]
    if comparison.baseline.files == comparison.candidate.files and comparison.baseline.warnings:
        # A run of `ab` has both sides.
        sides = [("the run", comparison.baseline)]
    return [f"{counted(len(side.warnings), 'warning')} of {name}{_command(side, named)}" for name, side in sides]


def _command(side: Compared, named: Mapping[str, str]) -> str:
    """Returns the command that shows the only run of a side.

    The text is empty if no command line can name the run.
    """
    if len(side.files) != 1:
        return ""
    if side.files[0] in named:
        return f": fastrnns-rs show {named[side.files[0]]}"
    # Names of the history start with @, and the label of a run that is no file starts with `run`.
    place = side.label if side.label.startswith("@") else side.files[0]
    return "" if place.startswith("run ") else f": fastrnns-rs show {shell_word(place)}"


def judged_statistic(comparison: Comparison) -> str:
    """Returns `mean of each process`; empty if the median is judged, as by default."""
    statistic = comparison.method.statistic
    return "" if statistic == "median" else f"{STATISTICS[statistic][0]} of each process"


def process_times(side: Figures) -> list[float]:
    """Returns the judged statistic of each process, in nanoseconds."""
    return side.process_levels_ns or side.process_medians_ns


def describe_mean(comparison: Comparison) -> str:
    """Returns what a geometric mean is of, as `3 runners`.

    A runner has a ratio for each of its problems.
    """
    count = 0 if comparison.geometric_mean is None else comparison.geometric_mean.n
    runners = len({row.runner for row in comparison.rows if row.p_value is not None})
    return counted(count, "runner") if count <= runners else f"{count:,} combinations of runner and problem"


def other_statistics(row: Row) -> list[tuple[str, StatisticChange]]:
    """Returns the statistics of a row that are not judged."""
    named = {"median": row.median, "mean": row.mean, "p95": row.p95}
    return [(name, found) for name, found in named.items() if found is not None]


def method(found: Method) -> str:
    """Returns `margin ±1 % (default), 95 % intervals, false discovery rate 5 %`."""
    margin = f"±{format_margin(found)} ({SOURCES[found.margin_source]})"
    return f"margin {margin}, {interval_heading(found)}s, false discovery rate {percent(found.false_discovery_rate)}"


def format_margin(found: Method) -> str:
    """Returns `1 %`; a noise floor, which was measured, has three digits."""
    return percent(float(f"{found.margin:.3g}") if found.margin_source == "noise_floor" else found.margin)


def interval_heading(found: Method) -> str:
    """Returns `95 % interval`."""
    return f"{percent(found.confidence_level)} interval"


def warning(found: RunWarning) -> Iterator[tuple[str, str]]:
    """Yields the lines of a warning, each with its label.

    The message is followed by the evidence and the hint, if present.
    """
    yield "warning", found.message
    for label, text in (("seen", found.evidence), ("hint", found.hint)):
        if text:
            yield label, text


def value(found: Any) -> str:
    """Returns a value of the environment as a text that is not yet escaped."""
    if found is None:
        return UNKNOWN
    return (found or '""') if isinstance(found, str) else flat(found)


def rounded(number: float) -> float:
    """Returns the nearest whole number; halves are rounded away from zero."""
    fraction, whole = math.modf(number)
    return whole + math.copysign(1.0, number) if abs(fraction) >= _HALF else whole
