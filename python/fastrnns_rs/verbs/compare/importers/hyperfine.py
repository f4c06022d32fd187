"""Importer of hyperfine files.

Each timed run starts the command again, so each time is a process. There are two layouts. Results of version 1.x have
lists of times. Results of version 2.x have a list of measurements, and the file records the version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.importers.foreign_side import NOT_INTERLEAVED, SECOND_NS, Benchmark, Measured, side
from fastrnns_rs.verbs.compare.importers.json_place import Place, UnmeasuredError

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Side

HINT = "hyperfine 1.20 or newer writes one with --export-json FILE"
_START = make_warning("start_included")

_KNOWN_SCHEMA = 2


def recognises(plain: dict[str, Any]) -> bool:
    """Returns True if a JSON object looks like a hyperfine file.

    Files of version 1.x have the single key `results`, which files of other tools have too.
    """
    return "results" in plain and (plain.keys() == {"results"} or "primary_metric" in plain)


def read(document: Place) -> Side:
    """Converts a hyperfine file to a side."""
    results = document["results"].items()
    schema = document.get("schema_version")
    modern = schema is not None
    if schema is not None and schema.integer() != _KNOWN_SCHEMA:
        raise document.damage(f"its schema_version is {schema.shown()}; {_KNOWN_SCHEMA} is known")
    names = _names(results)
    runs = _runs_of_2 if modern else _runs_of_1
    benchmarks = [
        Benchmark(name, partial(_measured, runs, result)) for name, result in zip(names, results, strict=True)
    ]
    environment = {**(_environment(document) if modern else {}), **_all_parameters(results)}
    version = environment.get("hyperfine_version") or _version_of_1(results)
    return side(document, f"hyperfine {version}", benchmarks, [_START, NOT_INTERLEAVED], environment)


def _names(results: list[Place]) -> list[str]:
    """Returns the name of each command; equal names are distinguished by parameters."""
    names = [(result.get("name") or result["command"]).text() for result in results]
    count = Counter(names)
    return [name + _parameters(one) if count[name] > 1 else name for name, one in zip(names, results, strict=True)]


def _parameters(result: Place) -> str:
    given = [f"{key} = {value}" for key, value in _values(result)]
    return f" ({', '.join(given)})" if given else ""


def _values(result: Place) -> Iterator[tuple[str, str]]:
    """Yields the name and the value of each parameter of a command."""
    parameters = result.get("parameters")
    for key in {} if parameters is None else parameters.object():
        place = result["parameters"][key]
        yield key, (place["value"] if isinstance(place.value, dict) else place).text()


def _all_parameters(results: list[Place]) -> dict[str, str]:
    """Returns the values of each parameter.

    A name that `--command-name` gives need not contain them.
    """
    found: dict[str, dict[str, None]] = {}
    for key, value in (each for result in results for each in _values(result)):
        found.setdefault(f"parameters.{key}", {})[value] = None
    return {visible(key): ", ".join(values) for key, values in found.items()}


def _runs_of_1(result: Place) -> tuple[list[float], list[Place]]:
    """Returns the times (ns) and the exit codes of a result of hyperfine 1.x."""
    times, codes = result["times"].times_ns(SECOND_NS), result["exit_codes"].items()
    if len(times) != len(codes):
        raise result.damage(f"{result.path} has {len(times)} times and {len(codes)} exit codes")
    return times, codes


def _runs_of_2(result: Place) -> tuple[list[float], list[Place]]:
    """Returns the times (ns) and the exit codes of a result of hyperfine 2.x."""
    times, codes = [], []
    for measurement in result["measurements"].items():
        time = measurement["time_wall_clock"]
        if time["unit"].text() != "second":
            raise time.damage(f"{time.path}.unit is not 'second'")
        times.append(time["value"].time_ns(SECOND_NS))
        codes.append(measurement["exit_code"])
    return times, codes


def _measured(runs: Callable[[Place], tuple[list[float], list[Place]]], result: Place) -> Measured:
    times, codes = runs(result)
    if not times:
        raise UnmeasuredError("it was never run")
    # A run that a signal ended may have no exit code. The time of a failed run is not the requested time. Comparing
    # only the successful runs would hide the failures.
    failed = [code.value for code in codes if code.value is None or code.integer() != 0]
    if failed:
        ends = sorted({"a signal" if code is None else f"exit code {code}" for code in failed})
        raise UnmeasuredError(f"failed: {len(failed)} of {len(codes)} runs, with {', '.join(ends[:3])}")
    return Measured(times, len(times), None)


def _version_of_1(results: list[Place]) -> str:
    """Returns the version that the layout shows: 1.20 was the first to record memory."""
    with_memory = any("memory_usage_byte" in result.object() for result in results)
    return "1.20 or 1.21" if with_memory else "1.19 or older"


def _environment(document: Place) -> dict[str, Any]:
    metadata = document["metadata"]
    known: dict[str, Any] = {"hyperfine_version": metadata["hyperfine_version"].text()}
    platform = metadata.get("platform")
    if platform is not None:
        known |= {"os": platform.object().get("os"), "machine": platform.value.get("architecture")}
    return known
