"""Importer of pytest-benchmark files: rounds within one process."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.compare.importers.foreign_side import (
    MEDIAN_ONLY,
    NO_PROCESS_LEVEL,
    NOT_INTERLEAVED,
    ONE_PROCESS,
    SECOND_NS,
    Benchmark,
    Measured,
    side,
)
from fastrnns_rs.verbs.compare.importers.json_place import Place, UnmeasuredError

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Side

HINT = "pytest --benchmark-json=FILE writes one"
_NO_SAMPLES = make_warning("no_samples")


def recognises(plain: dict[str, Any]) -> bool:
    """Returns True if a JSON object looks like a pytest-benchmark file."""
    return {"benchmarks", "machine_info"} <= plain.keys()


def read(document: Place) -> Side:
    """Converts a pytest-benchmark file to a side.

    Series have full test names, since two test files may have tests of the same name.
    """
    places = document["benchmarks"].items()
    benchmarks = [Benchmark(one["fullname"].text(), partial(_measured, one["stats"])) for one in places]
    warnings = [NO_PROCESS_LEVEL, NOT_INTERLEAVED]
    if any(one["stats"].get("data") is None for one in places):
        warnings.append(_NO_SAMPLES)
    version = document["version"].text()
    return side(document, f"pytest-benchmark {version}", benchmarks, warnings, _environment(document, version))


def _measured(stats: Place) -> Measured:
    data = stats.get("data")
    if data is None:
        return Measured([stats["median"].time_ns(SECOND_NS)], stats["rounds"].count(), MEDIAN_ONLY)
    samples = data.times_ns(SECOND_NS)
    if not samples:
        raise UnmeasuredError(f"{data.path} is empty")
    return Measured(samples, len(samples), ONE_PROCESS)


def _environment(document: Place, version: str) -> dict[str, Any]:
    machine = document["machine_info"].object()
    known: dict[str, Any] = {"pytest_benchmark_version": version}
    for key in ("python_version", "python_implementation", "python_compiler", "machine"):
        known[key] = machine.get(key)
    if isinstance(machine.get("system"), str) and isinstance(machine.get("release"), str):
        known["os"] = f"{machine['system']} {machine['release']}"
    cpu = machine.get("cpu")
    if isinstance(cpu, dict):
        known |= {"cpu_model": cpu.get("brand_raw"), "cpu_count": cpu.get("count")}
    commit = document.get("commit_info")
    identity = None if commit is None else commit.get("id")
    if commit is not None and identity is not None and identity.text() not in {"unversioned", "unknown"}:
        known |= {"git.commit": identity.text(), "git.dirty": commit.object().get("dirty")}
    return known
