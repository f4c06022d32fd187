"""Shared code of all importers: from benchmarks and their times to a side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.importers.json_place import NoTimeError, Place, UnmeasuredError
from fastrnns_rs.verbs.compare.side import Series, Side

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning

SECOND_NS = 1e9
_INTEGERS_END = 2**63
ONE_PROCESS = "no process level: descriptive only"
MEDIAN_ONLY = "no process level, and of the samples only the median: descriptive only"
#: Warning for formats whose samples all come from one process.
NO_PROCESS_LEVEL = make_warning("no_process_level")
#: Warning for formats whose measurements of one benchmark are consecutive.
NOT_INTERLEAVED = make_warning("not_interleaved")


class Measured(NamedTuple):
    """Numbers of one benchmark.

    Attributes:
        medians_ns: Numbers in nanoseconds, as in `Series`.
        n_samples: Number of samples behind `medians_ns`.
        lack: Data without which no verdict can be computed, as in `Series`.
        means_ns: Means, as in `Series`.
        p95s_ns: 95th percentiles, as in `Series`.
    """

    medians_ns: list[float]
    n_samples: int
    lack: str | None
    means_ns: Sequence[float] = ()
    p95s_ns: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark of a file.

    Attributes:
        name: Name in the file; need not be unique.
        read: Function that returns the numbers, or raises `UnmeasuredError`.
    """

    name: str
    read: Callable[[], Measured]


def side(
    document: Place,
    version: str,
    benchmarks: list[Benchmark],
    warnings: list[RunWarning],
    environment: Mapping[str, Any],
) -> Side:
    """Builds the side that one file describes.

    Args:
        document: Whole document.
        version: Name of the tool and its version, as far as it is known.
        benchmarks: Benchmarks in the order of the file.
        warnings: Warnings of the importer. The file and the version are put before their evidence.
        environment: Machine data of the file. Values that are neither text nor numbers are dropped.

    Raises:
        UsageError: If the file has no benchmark, or is damaged.
    """
    if not benchmarks:
        raise document.damage("it holds no benchmark")
    names = [visible(benchmark.name) for benchmark in benchmarks]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        count = names.count(repeated[0])
        warnings = [*warnings, make_warning("duplicate_names", evidence=f"{count} benchmarks named {repeated[0]!r}")]
    series = [_series(name, one.read) for name, one in zip(_unique(names), benchmarks, strict=True)]
    source = visible(f"{document.file}: {version}")
    return Side(
        label=document.file,
        files=[document.file],
        series=series,
        environment={
            key: value
            for key, value in environment.items()
            if isinstance(value, str | bool) or (type(value) is int and abs(value) < _INTEGERS_END)
        },
        warnings=[replace(one, evidence=f"{source}, {one.evidence}" if one.evidence else source) for one in warnings],
    )


def known(version: object) -> str:
    """Returns the version of a file as text."""
    return version if isinstance(version, str) else "of unknown version"


def _unique(names: list[str]) -> Iterator[str]:
    """Yields the names; repeated names get a number that makes them unique."""
    taken, counts = {*names}, Counter[str]()
    for name in names:
        counts[name] += 1
        unique = name
        if counts[name] > 1:
            while (unique := f"{name} #{counts[name]}") in taken:
                counts[name] += 1
            taken.add(unique)
        yield unique


def _series(name: str, read: Callable[[], Measured]) -> Series:
    measured, reason, has_no_time = Measured([], 0, None), None, False
    try:
        measured = read()
    except UnmeasuredError as error:
        reason, has_no_time = visible(str(error)), isinstance(error, NoTimeError)
    # As many numbers as samples are the samples.
    numbers = measured._asdict()
    samples = measured.medians_ns if measured.n_samples == len(measured.medians_ns) else []
    for key in ("means_ns", "p95s_ns"):
        numbers[key] = [*(numbers[key] or samples)]
    return Series(
        runner=name, reason=reason, has_no_time=has_no_time, samples_ns=[samples] if samples else [], **numbers
    )
