"""One side of a comparison, read from one or several files of any format."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.comparison import Statistic
from fastrnns_rs.documents.replicates import session_levels
from fastrnns_rs.documents.run_file import Session
from fastrnns_rs.documents.side_warnings import distinct_warnings
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.verbs.compare.environment_keys import merged

#: Statistic of a process that is compared. `mean_to_median` is the mean divided by the median.
Level = Statistic | Literal["mean_to_median"]
LEVELS: tuple[Level, ...] = (*get_args(Statistic), "mean_to_median")


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One runner and phase on one side.

    Attributes:
        runner: Name of the runner; of the benchmark, in foreign files.
        group: Family of the runner; None in foreign files, because only fastrnns-rs records it.
        phase: `forward` or `backward`.
        problem: Measured problem; None in foreign files.
        timing_mode: Timing mode.
        medians_ns: Median of each process, in nanoseconds. All samples, for a series without a process level.
        n_samples: Number of samples behind `medians_ns`.
        lack: Data without which no verdict can be computed, such as "no process level: descriptive only".
        reason: Reason for missing numbers, such as "failed: out of memory".
        has_no_time: True if the reason is a sample that is no time, such as 0.
        mode: `train` or `inference`.
        sessions: Session of each of `medians_ns`, a file for foreign files; empty if sessions are unknown.
        kinds: Hashes shared with series of other sessions that measured the same; one for each file of a side.
        families: Hashes shared with comparable series.
        source_sha256: SHA-256 of the runner's source.
        peak_memory_bytes: Peak memory of a process; None if unknown.
        samples_ns: Timed samples, in a list for each process and rank; empty if they are unknown.
        blocks: Place of each of `medians_ns` in the random order of `ab`, where both sides have a process in each
            place; empty for other files.
        by_verdict: True if `ab` measured until it had a verdict.
        means_ns: Mean of each process, as `medians_ns`; empty if the means are unknown.
        p95s_ns: 95th percentile of each process, as `medians_ns`; empty if it is unknown.
        statistic: Statistic in `levels`, which is compared.
    """

    runner: str
    group: str | None = None
    phase: Literal["forward", "backward"] | None = None
    problem: Problem | None = None
    timing_mode: str | None = None
    medians_ns: list[float]
    n_samples: int
    lack: str | None = None
    reason: str | None = None
    has_no_time: bool = False
    mode: Literal["train", "inference"] | None = None
    sessions: list[str] = field(default_factory=list)
    kinds: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    source_sha256: str | None = None
    peak_memory_bytes: int | None = None
    samples_ns: Sequence[Sequence[float]] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    by_verdict: bool = False
    means_ns: list[float] = field(default_factory=list)
    p95s_ns: list[float] = field(default_factory=list)
    statistic: Level = "median"

    @property
    def levels(self) -> list[float]:
        """Compared statistic of each process, in nanoseconds.

        A ratio for `mean_to_median`. All samples, for a series without a process level.
        """
        if self.statistic == "median":
            return self.medians_ns
        if self.statistic == "mean_to_median":
            pairs = zip(self.means_ns, self.medians_ns, strict=True) if self.means_ns else ()
            return [mean / median for mean, median in pairs]
        return self.means_ns if self.statistic == "mean" else self.p95s_ns

    @property
    def session_levels(self) -> list[float]:
        """Geometric mean of the levels of each session."""
        return session_levels(self.levels, self.sessions)

    @property
    def session_numbers(self) -> list[int]:
        """Number of the session of each process, from 0 in the order of the files."""
        numbers = {session: number for number, session in enumerate(dict.fromkeys(self.sessions))}
        return [numbers[one] for one in self.sessions]

    def with_statistic(self, statistic: Level) -> Series:
        """Returns the series with another compared statistic.

        Its kinds and families are those of this statistic, so that the history supplies the variance of sessions that
        belongs to the statistic.
        """
        end = "" if statistic == "median" else f" {statistic}"
        kinds, families = (tuple(one.partition(" ")[0] + end for one in each) for each in (self.kinds, self.families))
        return replace(self, statistic=statistic, kinds=kinds, families=families)

    @property
    def failed(self) -> bool:
        """True if the runner ran and failed.

        A runner that was skipped, or interrupted before a process ended, did not fail.
        """
        return self.reason is not None and self.reason.startswith(("failed", "timed out"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Measurements of one side.

    Attributes:
        label: Name of the side in output.
        files: Paths that the side was read from.
        series: Series that can be compared.
        environment: Machine, software and plan, as flat keys such as `torch_version`.
        warnings: Warnings that reading the files gave.
        runs: Identity of each run: the run ID inside a run file, or the path of a foreign file.
        stored: Warnings that the run files contain.
        created_utc: Start of the last run; None in foreign files.
        name: Path or name, such as `@last`, of the only file; None if a command line cannot name it.
        command: Command that measured the only run; empty if it is unknown.
        listed: Sessions that the run files list.
    """

    label: str
    files: list[str]
    series: list[Series]
    environment: dict[str, Any]
    warnings: list[RunWarning]
    runs: list[str] = field(default_factory=list)
    stored: list[RunWarning] = field(default_factory=list)
    created_utc: str | None = None
    name: str | None = None
    command: list[str] = field(default_factory=list)
    listed: list[Session] = field(default_factory=list)

    @property
    def sessions(self) -> int | None:
        """Number of sessions; None if sessions are unknown."""
        return len({session for one in self.series for session in one.sessions}) or None


def pool(sides: Sequence[Side]) -> Side:
    """Pools several files into one side.

    Results of different sizes, dtypes or timing modes are kept apart.
    """
    if len(sides) == 1:
        return sides[0]
    series: dict[Hashable, Series] = {}
    changed: list[str] = []
    modes = {_untimed(one): one.timing_mode for side in sides for one in side.series if one.timing_mode is not None}
    for side in sides:
        for one in side.series:
            # The timing mode is unknown if no process completed.
            key = (_untimed(one), one.timing_mode or modes.get(_untimed(one)))
            known = series.get(key)
            if known is not None and known.source_sha256 and one.source_sha256 not in {None, known.source_sha256}:
                changed.append(f"source of {one.runner}")
            series[key] = one if known is None else _added(known, one)
    environment, keys = merged(side.environment for side in sides)
    differing = [*keys, *dict.fromkeys(changed)]
    warnings, stored = (
        distinct_warnings(one for each in lists for one in each)
        for lists in ([side.warnings for side in sides], [side.stored for side in sides])
    )
    files = [file for side in sides for file in side.files]
    if differing:
        evidence = f"{' '.join(files)}: {', '.join(differing)}"
        warnings.append(make_warning("pooled_files_differ", evidence=evidence))
    return Side(
        label=f"{sides[0].label} and {len(sides) - 1} more",
        files=files,
        series=[*series.values()],
        environment=environment,
        warnings=warnings,
        runs=[run for side in sides for run in side.runs],
        stored=stored,
        created_utc=max((side.created_utc for side in sides if side.created_utc), default=None),
        listed=[one for side in sides for one in side.listed],
    )


def _untimed(series: Series) -> Hashable:
    return series.runner, series.phase, identity(replace(series, timing_mode=None))


def identity(series: Series) -> Hashable:
    """Returns a key that is equal for equal measurements of one runner.

    The key holds the timing mode, the mode, and the problem without its seed.
    """
    return (series.timing_mode, series.mode, tuple(sorted(sizes(series).items(), key=lambda one: one[0])))


def sizes(series: Series) -> dict[str, Any]:
    """Returns the problem without its seed, with one name for each device."""
    if series.problem is None:
        return {}
    problem = series.problem.by_name()
    del problem["seed"]
    if problem["device"] == "cuda":
        problem["device"] = "cuda:0"
    return problem


def _added(first: Series, second: Series) -> Series:
    lack = first.lack or second.lack
    # A runner that failed in one file counts as failed: the processes that survived are not a fair sample. The same
    # holds for a time of 0. If it was skipped or interrupted, the processes of the other file are as good as they are
    # alone.
    broken = next((one for one in (first, second) if one.failed or one.has_no_time), None)
    if broken is not None:
        empty = ("medians_ns", "sessions", "samples_ns", "blocks", "means_ns", "p95s_ns")
        nothing: dict[str, Any] = {name: [] for name in empty}
        return replace(
            first,
            **nothing,
            n_samples=0,
            lack=lack,
            reason=broken.reason,
            has_no_time=broken.has_no_time,
        )
    medians = [*first.medians_ns, *second.medians_ns]
    peaks = [one.peak_memory_bytes for one in (first, second) if one.peak_memory_bytes is not None]
    reason = None if medians else first.reason or second.reason
    return replace(
        first,
        medians_ns=medians,
        # A file without processes has no sessions either.
        sessions=[] if lack else [*first.sessions, *second.sessions],
        kinds=tuple(dict.fromkeys((*first.kinds, *second.kinds))),
        families=tuple(dict.fromkeys((*first.families, *second.families))),
        source_sha256=first.source_sha256 if first.source_sha256 == second.source_sha256 else None,
        n_samples=first.n_samples + second.n_samples,
        lack=lack,
        reason=reason,
        peak_memory_bytes=max(peaks, default=None),
        # Deciles of a part of the samples would not be those of the row.
        samples_ns=[*first.samples_ns, *second.samples_ns] if all(map(_has_samples, (first, second))) else [],
        # Places of different runs are not the same places.
        blocks=[],
        timing_mode=first.timing_mode or second.timing_mode,
        means_ns=_join_levels(first, second, "means_ns"),
        p95s_ns=_join_levels(first, second, "p95s_ns"),
    )


def _join_levels(first: Series, second: Series, name: str) -> list[float]:
    """Returns a statistic of all processes; empty if it is unknown for some."""
    levels = [*getattr(first, name), *getattr(second, name)]
    return levels if len(levels) == len(first.medians_ns) + len(second.medians_ns) else []


def _has_samples(series: Series) -> bool:
    return bool(series.samples_ns) or not series.medians_ns
