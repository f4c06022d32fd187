"""One side of a comparison, whatever kind of file it was read from; several files of one side become one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.replicates import level
from fastrnns_rs.verbs.compare.environment_keys import merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One runner and phase on one side.

    Attributes:
        runner: The runner's name; of foreign files, the benchmark's.
        group: The runner's family; None of foreign files, as all that fastrnns-rs alone knows.
        phase: `forward` or `backward`.
        problem: The problem that was measured; None of foreign files.
        timing_mode: How it was timed.
        medians_ns: One number a process; of a series without a process level, all its samples.
        n_samples: How many samples are behind them.
        lack: What is missing so that no verdict can come of it, such as "no process level: descriptive only".
        reason: Why there are no numbers, as "failed: out of memory".
        mode: `train` or `inference`.
        sessions: Session of each of `medians_ns`; empty where sessions are unknown, as of foreign files.
        kinds: What it shares with series of other sessions that measured the same; one for each file of a side.
        families: What it shares with comparable series.
        source_sha256: Hash of the runner's source.
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
    mode: Literal["train", "inference"] | None = None
    sessions: list[str] = field(default_factory=list)
    kinds: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    source_sha256: str | None = None

    @property
    def session_levels(self) -> list[float]:
        """For each session the geometric mean of its processes, in nanoseconds."""
        found: dict[str, list[float]] = {}
        for one, median in zip(self.sessions, self.medians_ns, strict=True):
            found.setdefault(one, []).append(median)
        return [level(medians) for medians in found.values()]

    @property
    def failed(self) -> bool:
        """Whether it ran and did not work; what was skipped, or interrupted before a process ended, did not."""
        return self.reason is not None and self.reason.startswith(("failed", "timed out"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What was measured of one side.

    Attributes:
        label: What people call it.
        files: Where it was read from.
        series: What there is to compare.
        environment: Machine, software and plan, as flat keys such as `torch_version`.
        warnings: What whoever reads its numbers should know.
        runs: What was measured at once: the name inside each run file, the place of a foreign one.
    """

    label: str
    files: list[str]
    series: list[Series]
    environment: dict[str, Any]
    warnings: list[Notice]
    runs: list[str] = field(default_factory=list)


def pool(sides: Sequence[Side]) -> Side:
    """One side of the files of several. Results of other sizes, dtypes or timing modes stay apart."""
    if len(sides) == 1:
        return sides[0]
    series: dict[Hashable, Series] = {}
    for side in sides:
        for one in side.series:
            key = (one.runner, one.phase, identity(one))
            series[key] = _added(series[key], one) if key in series else one
    environment, differing = merged(side.environment for side in sides)
    warnings = [*{(one.code, one.message, one.evidence): one for side in sides for one in side.warnings}.values()]
    files = [file for side in sides for file in side.files]
    if differing:
        message = "files of one side were not measured alike"
        evidence = f"{' '.join(files)}: {', '.join(differing)}"
        hint = "environment_differences has all values of each"
        warnings.append(Notice(code="pooled_files_differ", message=message, evidence=evidence, hint=hint))
    return Side(
        label=f"{sides[0].label} and {len(sides) - 1} more",
        files=files,
        series=[*series.values()],
        environment=environment,
        warnings=warnings,
        runs=[run for side in sides for run in side.runs],
    )


def identity(series: Series) -> Hashable:
    """What makes results of one runner the same measurement: how it was timed, and all of its problem but the seed."""
    return (series.timing_mode, series.mode, tuple(sorted(sizes(series).items(), key=lambda one: one[0])))


def sizes(series: Series) -> dict[str, Any]:
    """The problem without the seed, with one name for each device."""
    if series.problem is None:
        return {}
    problem = series.problem.by_name()
    del problem["seed"]
    if problem["device"] == "cuda":
        problem["device"] = "cuda:0"
    return problem


def _added(first: Series, second: Series) -> Series:
    # A runner that failed in one file failed: those processes that lived are not a fair sample. Where it was skipped
    # or interrupted, the processes of the others are as good as they would be alone.
    broken = next((one for one in (first, second) if one.failed), None)
    if broken is not None:
        nothing: dict[str, Any] = {"medians_ns": [], "sessions": [], "n_samples": 0}
        return replace(first, **nothing, lack=first.lack or second.lack, reason=broken.reason)
    medians = [*first.medians_ns, *second.medians_ns]
    reason = None if medians else first.reason or second.reason
    return replace(
        first,
        medians_ns=medians,
        sessions=[*first.sessions, *second.sessions],
        kinds=tuple(dict.fromkeys((*first.kinds, *second.kinds))),
        families=tuple(dict.fromkeys((*first.families, *second.families))),
        source_sha256=first.source_sha256 if first.source_sha256 == second.source_sha256 else None,
        n_samples=first.n_samples + second.n_samples,
        lack=first.lack or second.lack,
        reason=reason,
    )
