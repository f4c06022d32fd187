"""What the readers of all foreign formats share: from benchmarks and their times to a side of the comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.importers.json_place import Place, UnmeasuredError
from fastrnns_rs.verbs.compare.side import Series, Side

SECOND_NS = 1e9
_INTEGERS_END = 2**63
ONE_PROCESS = "no process level: descriptive only"
MEDIAN_ONLY = "no process level, and of the samples only the median: descriptive only"
#: The warning of formats whose samples all come from one process.
NO_PROCESS_LEVEL = Notice(
    code="no_process_level",
    message="all samples of a benchmark come from one process: ratios are shown, and no verdict is given",
    hint="processes differ more than the samples of one: measure in several with bench, ab or pyperf",
)


class Measured(NamedTuple):
    """The numbers of one benchmark.

    Attributes:
        medians_ns: See `Series`, as for the other two.
        n_samples: Samples behind them.
        lack: What is missing for a verdict.
    """

    medians_ns: list[float]
    n_samples: int
    lack: str | None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark of a file.

    Attributes:
        name: What it is called there; need not be unique.
        read: Gives its numbers, or raises `UnmeasuredError`.
    """

    name: str
    read: Callable[[], Measured]


def side(
    document: Place, version: str, benchmarks: list[Benchmark], warnings: list[Notice], environment: Mapping[str, Any]
) -> Side:
    """The side that one file describes.

    Args:
        document: The whole of it.
        version: The tool and its version, or what is known of it.
        benchmarks: In the order of the file.
        warnings: What the reader has to say; the file and the version become the evidence where a warning has none.
        environment: What the file tells of the machine; what is neither text nor a number is left out.

    Raises:
        UsageError: There is no benchmark, or the file is damaged.
    """
    if not benchmarks:
        raise document.damage("it holds no benchmark")
    names = [visible(benchmark.name) for benchmark in benchmarks]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        message = f"several benchmarks are called {repeated[0]!r}: they are numbered in the order of the file"
        hint = "give each benchmark a name of its own"
        warnings = [*warnings, Notice(code="duplicate_names", message=message, hint=hint)]
    series = [_series(name, one.read) for name, one in zip(_unique(names), benchmarks, strict=True)]
    evidence = visible(f"{document.file}: {version}")
    return Side(
        label=document.file,
        files=[document.file],
        series=series,
        environment={
            key: value
            for key, value in environment.items()
            if isinstance(value, str | bool) or (type(value) is int and abs(value) < _INTEGERS_END)
        },
        warnings=[replace(one, evidence=one.evidence or evidence) for one in warnings],
    )


def known(version: object) -> str:
    """A version that a file may tell."""
    return version if isinstance(version, str) else "of unknown version"


def not_interleaved(followers: str) -> Notice:
    """The warning of formats whose benchmarks are not measured in turns.

    Args:
        followers: What follows each other, such as "the processes".
    """
    return Notice(
        code="not_interleaved",
        message=f"{followers} of a benchmark follow each other, so that a drift of the machine looks like a difference",
        hint="measure the two sides in turns: fastrnns-rs ab",
    )


def _unique(names: list[str]) -> Iterator[str]:
    """The names, the second and later of the same with a number that makes none of the others."""
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
    measured, reason = Measured([], 0, None), None
    try:
        measured = read()
    except UnmeasuredError as error:
        reason = visible(str(error))
    return Series(runner=name, reason=reason, **measured._asdict())
