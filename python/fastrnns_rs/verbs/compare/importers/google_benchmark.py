"""Importer of google-benchmark files: repetitions within one process."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.compare.importers.foreign_side import (
    MEDIAN_ONLY,
    NO_PROCESS_LEVEL,
    NOT_INTERLEAVED,
    ONE_PROCESS,
    Benchmark,
    Measured,
    known,
    side,
)
from fastrnns_rs.verbs.compare.importers.json_place import Place, UnmeasuredError

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Side

HINT = "google-benchmark 1.5 or newer writes one with --benchmark_out=FILE --benchmark_out_format=json"
_NO_SAMPLES = make_warning("no_samples", hint="Keep the repetitions: leave out --benchmark_report_aggregates_only")

_UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
#: Aggregate rows of a family that fit the growth of the time with the argument.
_FITS = {"BigO", "RMS"}
_ENVIRONMENT = {
    "num_cpus": "cpu_count",
    "mhz_per_cpu": "cpu_mhz",
    "cpu_scaling_enabled": "cpu_scaling_enabled",
    "aslr_enabled": "aslr_enabled",
    "library_version": "google_benchmark_version",
    "library_build_type": "google_benchmark_build_type",
}


def recognises(plain: dict[str, Any]) -> bool:
    """Returns True if a JSON object looks like a google-benchmark file."""
    return {"benchmarks", "context"} <= plain.keys()


def read(document: Place) -> Side:
    """Converts a google-benchmark file to a side.

    Its numbers are the wall-clock times of the repetitions.
    """
    context = document["context"].object()
    rows: dict[tuple[Any, ...], list[Place]] = {}
    for row in document["benchmarks"].items():
        if row["run_type"].text() == "iteration" or row["aggregate_name"].text() not in _FITS:
            rows.setdefault(_identity(row), []).append(row)
    # The name is the last part of a benchmark's identity.
    benchmarks = [Benchmark(identity[-1], partial(_measured, group)) for identity, group in rows.items()]
    warnings = [NO_PROCESS_LEVEL, NOT_INTERLEAVED]
    if any(not _iterations(group) for group in rows.values()):
        warnings.append(_NO_SAMPLES)
    environment = {ours: context.get(theirs) for theirs, ours in _ENVIRONMENT.items()}
    version = known(context.get("library_version"))
    return side(document, f"google-benchmark {version}", benchmarks, warnings, environment)


def _identity(row: Place) -> tuple[Any, ...]:
    """Returns the key that rows of one benchmark share.

    The same code may be registered twice under one name.
    """
    indices = [row.get(key) for key in ("family_index", "per_family_instance_index")]
    return (*(None if index is None else index.integer() for index in indices), row["run_name"].text())


def _iterations(rows: list[Place]) -> list[Place]:
    return [row for row in rows if row["run_type"].value == "iteration"]


def _measured(rows: list[Place]) -> Measured:
    for row in rows:
        _refuse_failed(row)
    samples = [_time_ns(row) for row in _iterations(rows)]
    if samples:
        return Measured(samples, len(samples), ONE_PROCESS)
    for row in rows:
        if row["aggregate_name"].value == "median":
            return Measured([_time_ns(row)], row["repetitions"].count(), MEDIAN_ONLY)
    raise UnmeasuredError("it has neither repetitions nor their median")


def _refuse_failed(row: Place) -> None:
    for flag, message, word in (
        ("error_occurred", "error_message", "failed"),
        ("skipped", "skip_message", "skipped"),
    ):
        raised = row.get(flag)
        if raised is not None and raised.flag():
            said = row.get(message)
            raise UnmeasuredError(f"{word}: {said.text() if said else 'no message'}")


def _time_ns(row: Place) -> float:
    unit = row["time_unit"].text()
    if unit not in _UNITS_NS:
        raise row.damage(f"{row.path}.time_unit is {row['time_unit'].shown()}, not one of {', '.join(_UNITS_NS)}")
    return row["real_time"].time_ns(_UNITS_NS[unit])
