"""Rows inside a comparison: a class for each JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fastrnns_rs.documents import row_names
from fastrnns_rs.documents.codec import since
from fastrnns_rs.documents.part import Part
from fastrnns_rs.problem.problem import Problem

Verdict = Literal["faster", "slower", "equivalent", "inconclusive"]
#: Statistic of a process: of its timed samples.
Statistic = Literal["median", "mean", "p95"]
RowBasis = Literal["sessions", "history", "two_sessions", "interleaved"]
#: Labels of rows of one basis: the end of the label of sessions, which begins with their numbers, and a whole label.
OF_SESSIONS, CONDITIONAL = "sessions are compared, not processes", "conditional on these two sessions"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Figures(Part):
    """Baseline or candidate of a row.

    Attributes:
        n_processes: Number of processes; 0 without a process level.
        estimate_ns: Point estimate: the geometric mean of the judged statistic of each process, by default of process
            medians. Without a process level, the statistic of all samples.
        ci_low_ns: Lower bound of the 95 % interval of the point estimate; None with fewer than 3 processes.
        ci_high_ns: Upper bound of this interval.
        peak_memory_bytes: Peak memory of a process.
        process_medians_ns: Median of each process, in the order of the files; empty without a process level.
        process_levels_ns: Judged statistic of each process, where it is not the median; empty otherwise.
        process_sessions: Number of the session of each process, where sessions are the replicates; empty otherwise.
    """

    n_processes: int
    n_samples: int
    estimate_ns: float
    ci_low_ns: float | None = field(default=None, metadata=since("1.3"))
    ci_high_ns: float | None = field(default=None, metadata=since("1.3"))
    peak_memory_bytes: int | None = field(default=None, metadata=since("1.3"))
    process_medians_ns: list[float] = field(default_factory=list, metadata=since("1.3"))
    process_levels_ns: list[float] = field(default_factory=list, metadata=since("1.3"))
    process_sessions: list[int] = field(default_factory=list, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Decile(Part):
    """Decile of all timed samples of a row on each side.

    Attributes:
        level: Share of the samples up to the decile: 0.1, 0.2 to 0.9.
        baseline_ns: Decile of the baseline.
        candidate_ns: Decile of the candidate.
        shift_ns: Candidate minus baseline.
    """

    level: float
    baseline_ns: float
    candidate_ns: float
    shift_ns: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StatisticChange(Part):
    """Comparison of a statistic of the processes that is not judged.

    Attributes:
        baseline_ns: Geometric mean over the processes of the baseline.
        candidate_ns: Geometric mean over the processes of the candidate.
        ratio: Ratio candidate / baseline; above 1 is slower.
        ratio_ci_low: Lower bound of the 95 % interval, between processes or sessions as that of the row; None with
            fewer than 3 processes.
        ratio_ci_high: Upper bound of this interval.
        p_value: P-value of this statistic alone.
        p_value_adjusted: P-value adjusted for all statistics of all rows that are not judged.
    """

    baseline_ns: float
    candidate_ns: float
    ratio: float
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    p_value: float | None
    p_value_adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Row(Part):
    """Comparison of one runner and phase. Ratios are candidate / baseline.

    A ratio above 1 is slower.

    Attributes:
        basis: Variation that the interval includes. `sessions`: sessions are the replicates. `history`: differences
            between earlier sessions, and between those of a side that has several. `interleaved`: variation between
            processes of one session. `two_sessions`: variation between processes of two sessions, which differ by an
            unknown amount. None for files of other tools.
        conditional_verdict: Verdict under the assumption that sessions do not differ, where `basis` is `two_sessions`.
            `verdict` is then empty (None).
        required_processes: Processes per side of a new comparison that would reach a verdict. None where there is a
            verdict, where more processes do not help or more than 100,000 are needed, and where `ab --until decided`
            measured too few pairs for an estimate.
        session_stddev: Standard deviation between sessions, of logarithms of times, where `basis` is `history`.
        session_stderr: Standard error of the logarithm of the ratio, where `basis` is `history`.
        session_degrees_of_freedom: Degrees of freedom of `session_stderr`.
        history_sessions: Number of sessions that `session_stddev` comes from.
        history_pooled: True if some of these sessions measured other runners or problems.
        deciles: Nine deciles of both sides; empty if samples of a side are unknown.
        median: Change of the medians. None if they are judged, as is the default, or without processes.
        mean: Change of the means. None if they are judged or unknown.
        p95: Change of the 95th percentiles. None if they are judged or unknown.
    """

    runner: str
    group: str | None
    phase: Literal["forward", "backward"] | None
    problem: Problem | None
    baseline: Figures | None
    candidate: Figures | None
    ratio: float | None
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    shift_ns: float | None
    cliffs_delta: float | None
    p_value: float | None
    p_value_adjusted: float | None = None
    verdict: Verdict | None
    reason: str
    label: str | None
    additional_processes: int | None
    basis: RowBasis | None = field(default=None, metadata=since("1.3"))
    conditional_verdict: Verdict | None = field(default=None, metadata=since("1.3"))
    required_processes: int | None = field(default=None, metadata=since("1.3"))
    session_stddev: float | None = field(default=None, metadata=since("1.3"))
    session_stderr: float | None = field(default=None, metadata=since("1.3"))
    session_degrees_of_freedom: float | None = field(default=None, metadata=since("1.3"))
    history_sessions: int | None = field(default=None, metadata=since("1.3"))
    history_pooled: bool = field(default=False, metadata=since("1.3"))
    deciles: list[Decile] = field(default_factory=list, metadata=since("1.3"))
    median: StatisticChange | None = field(default=None, metadata=since("1.3"))
    mean: StatisticChange | None = field(default=None, metadata=since("1.3"))
    p95: StatisticChange | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KernelFigures(Part):
    """Baseline or candidate of a kernel.

    `total_ns` and `launches` are by the comparison's `basis`, `count` is over all captures. `n_repeats` is the number
    of captures that an interval comes from; 0 without an interval.
    """

    count: int
    total_ns: int
    launches: float
    n_repeats: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Change(Part):
    """Device time of one category, or of all. Ratios are candidate / baseline.

    A ratio above 1 is slower. `delta_ns` of all kernels add up to `delta_ns` of the whole device time, as do those of
    all categories. `contribution` is the share. `delta_ci_low_ns` and `delta_ci_high_ns` are the interval of the
    difference between the means of the captures, where there are at least 3 captures per side.
    """

    name: str
    presence: Literal["both", "appeared", "vanished"]
    baseline: KernelFigures | None
    candidate: KernelFigures | None
    delta_ns: int
    contribution: float | None
    ratio: float | None
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    p_value: float | None
    p_value_adjusted: float | None
    verdict: Verdict | None
    reason: str
    delta_ci_low_ns: float | None = field(default=None, metadata=since("1.3"))
    delta_ci_high_ns: float | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Kernel(Change):
    """Kernel, or kind of copy or set. `matched_by` is `shape` where it was renamed.

    `short_name` is the name of its function, without namespaces and arguments.
    """

    category: str
    matched_by: Literal["name", "shape"] | None
    baseline_name: str | None
    candidate_name: str | None
    short_name: str | None = field(default=None, metadata=since("1.2"))


def is_regression(row: Row | Change, margin: float) -> bool:
    """Returns True if the whole interval of a slower row lies beyond the margin.

    A row can be slower within the margin: certain, but too small to fail for.

    Args:
        row: Row, kernel or category of a comparison.
        margin: Equivalence margin as a share: 0.01 is 1 %.
    """
    return row.verdict == "slower" and _is_beyond(row, margin)


def is_withheld(row: Row | Change, margin: float) -> bool:
    """Returns True if a row would be a regression, if sessions did not differ.

    Args:
        row: Row, kernel or category of a comparison.
        margin: Equivalence margin as a share.
    """
    return getattr(row, "conditional_verdict", None) == "slower" and _is_beyond(row, margin)


def _is_beyond(row: Row | Change, margin: float) -> bool:
    return row.ratio_ci_low is not None and row.ratio_ci_low > 1 + margin


def name_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Returns the names of each row of a comparison; the first name is unique."""
    return row_names.names([(row.runner, row.phase, row.problem.by_name() if row.problem else None) for row in rows])
