"""Several files of one side become one: the processes of each are added together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.verbs.compare.environment_keys import merged
from fastrnns_rs.verbs.compare.side import Side

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Series


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
        return replace(first, medians_ns=[], n_samples=0, lack=first.lack or second.lack, reason=broken.reason)
    medians = [*first.medians_ns, *second.medians_ns]
    reason = None if medians else first.reason or second.reason
    return replace(
        first,
        medians_ns=medians,
        n_samples=first.n_samples + second.n_samples,
        lack=first.lack or second.lack,
        reason=reason,
    )
