"""Importer of pyperf files: each run with values is a process of its own."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs import stats
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.importers.foreign_side import (
    NOT_INTERLEAVED,
    SECOND_NS,
    Benchmark,
    Measured,
    known,
    side,
)
from fastrnns_rs.verbs.compare.importers.json_place import Place, UnmeasuredError

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Side

HINT = "pyperf writes one with --output FILE"

_ENVIRONMENT = {
    "python_version": "python_version",
    "python_implementation": "python_implementation",
    "python_compiler": "python_compiler",
    "platform": "platform",
    "cpu_model_name": "cpu_model",
    "cpu_count": "cpu_count",
    "cpu_affinity": "cpu_affinity",
    "cpu_config": "cpu_config",
    "aslr": "aslr",
    "perf_version": "pyperf_version",
}


def recognises(plain: dict[str, Any]) -> bool:
    """Returns True if a JSON object looks like a pyperf file.

    Files of pytest-benchmark have the same keys, so that format must be checked first.
    """
    return {"benchmarks", "version"} <= plain.keys()


def read(document: Place) -> Side:
    """Converts a pyperf file to a side.

    Benchmarks measured in bytes or events are skipped, and named in a warning.
    """
    version = document["version"]
    # Formats before 1.0 divided the values and stored the warm-ups differently.
    if not isinstance(version.value, str) or version.value.partition(".")[0] != "1":
        raise document.damage(f"its format version is {version.shown()}; 1.0 is known")
    common = _metadata(document)
    timed, others, warnings = [], [], [NOT_INTERLEAVED]
    for benchmark in document["benchmarks"].items():
        runs = benchmark["runs"].items()
        if not runs:
            raise benchmark.damage(f"{benchmark.path}.runs is empty")
        # Not copied: the file's metadata may be large, and benchmarks many.
        shared, own = ChainMap(_metadata(benchmark), common), [*map(_metadata, runs)]
        name, unit = _text(benchmark, shared, own, "name"), _text(benchmark, shared, own, "unit", "second")
        if unit == "second":
            timed.append(Benchmark(name, partial(_measured, runs)))
        else:
            others.append(unit)
            warnings.append(make_warning("not_time", evidence=visible(f"benchmark {name!r} in {unit}")))
    if others and not timed:
        raise document.damage(f"its benchmarks are measured in {others[0]}, not in time")
    environment = {ours: common.get(theirs) for theirs, ours in _ENVIRONMENT.items()}
    tool = f"pyperf {known(common.get('perf_version'))}, format {version.text()}"
    return side(document, tool, timed, warnings, environment)


def _metadata(place: Place) -> dict[str, Any]:
    metadata = place.get("metadata")
    return {} if metadata is None else metadata.object()


def _text(
    benchmark: Place, shared: Mapping[str, Any], own: Sequence[dict[str, Any]], key: str, default: str | None = None
) -> str:
    """Returns a metadata text of a benchmark.

    Args:
        benchmark: Benchmark.
        shared: Metadata that all runs share, which is stored in the benchmark or the file.
        own: Metadata of each run, which count before.
        key: Key of the text.
        default: Text if neither has the key.
    """
    found = [one[key] for one in own if key in one] or [shared.get(key, default)]
    if not all(isinstance(one, str) for one in found):
        raise benchmark.damage(f"the metadata {key} of {benchmark.path} is missing or no string")
    if len({*found}) > 1:
        raise benchmark.damage(f"the metadata {key} of {benchmark.path} differs between runs")
    return str(found[0])


def _measured(runs: list[Place]) -> Measured:
    processes = []
    for run in runs:
        # Runs that only calibrated the loops have warm-ups and no values. Values are already divided by the loops.
        values = run.get("values")
        times = [] if values is None else values.times_ns(SECOND_NS)
        if times:
            processes.append(stats.summarize(times))
    if not processes:
        raise UnmeasuredError("no run has values: all of them calibrated")
    medians, means, p95s = ([getattr(one, name) for one in processes] for name in ("median", "mean", "p95"))
    return Measured(medians, sum(one.count for one in processes), None, means, p95s)
