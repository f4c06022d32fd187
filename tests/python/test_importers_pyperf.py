"""pyperf's files: a run with values is a process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from foreign_files import FOLDER, by_name, imported, plain

from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.importers import pyperf


def test_medians_are_those_that_pyperf_reads_itself() -> None:
    reference = json.loads((FOLDER / "reference" / "pyperf.json").read_text(encoding="utf-8"))
    series = by_name(imported(plain("pyperf.json")))
    assert series.keys() == reference.keys()
    for name, expected in reference.items():
        assert expected["unit"] == "second"
        assert series[name].medians_ns == pytest.approx([1e9 * one for one in expected["process_medians"]], rel=1e-12)
        assert series[name].n_samples == expected["values"]
        assert len(series[name].medians_ns) == 4
        assert series[name].lack is None


def test_the_environment_has_our_keys() -> None:
    metadata = plain("pyperf.json")["metadata"]
    environment = imported(plain("pyperf.json")).environment
    assert environment["cpu_model"] == metadata["cpu_model_name"]
    assert environment["cpu_count"] == metadata["cpu_count"]
    assert environment["python_version"] == metadata["python_version"]
    assert not {"hostname", "python_executable", "boot_time"} & environment.keys()


def test_bytes_are_left_out_with_a_warning() -> None:
    side = imported(plain("pyperf_memory.json"))
    assert [series.runner for series in side.series] == ["sorted"]
    warning = next(one for one in side.warnings if one.code == "not_time")
    assert warning.code == "not_time"
    assert str(warning.evidence).endswith(", benchmark 'allocated' in byte")


def test_a_file_of_bytes_alone_is_refused() -> None:
    document = plain("pyperf_memory.json")
    del document["benchmarks"][0]
    with pytest.raises(UsageError, match="measured in byte, not in time"):
        imported(document)


def test_metadata_nearer_the_run_wins() -> None:
    document = plain("pyperf.json")
    document["metadata"]["name"] = "outermost"
    assert imported(document).series[0].runner == "sorted"
    del document["benchmarks"][0]["metadata"]["name"]
    assert imported(document).series[0].runner == "outermost"
    document["benchmarks"][0]["runs"][0]["metadata"]["name"] = "innermost"
    assert imported(document).series[0].runner == "innermost"


def test_metadata_of_the_file_is_not_copied_for_each_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time grew with the product of their numbers."""

    class Uncopied(dict[str, object]):
        def __or__(self, _other: object) -> Any:
            raise AssertionError

        __ror__ = __or__

    metadata = pyperf._metadata
    monkeypatch.setattr(pyperf, "_metadata", lambda place: Uncopied(metadata(place)))
    assert imported(plain("pyperf.json")).series


@pytest.mark.parametrize(("key", "other"), [("unit", "byte"), ("name", "other")])
def test_runs_of_other_units_or_names_are_refused(key: str, other: str) -> None:
    """Bytes became a time with a verdict."""
    document = plain("pyperf.json")
    metadata = document["benchmarks"][0]["metadata"]
    for place, run in enumerate(document["benchmarks"][0]["runs"]):
        run["metadata"][key] = other if place else metadata.get(key, "second")
    with pytest.raises(UsageError, match=f"the metadata {key} of .* differs between runs"):
        imported(document)


def test_a_benchmark_that_only_calibrated_has_a_reason() -> None:
    document = plain("pyperf.json")
    document["benchmarks"][0]["runs"] = document["benchmarks"][0]["runs"][:1]
    first, second = imported(document).series
    assert (first.medians_ns, first.reason) == ([], "no run has values: all of them calibrated")
    assert len(second.medians_ns) == 4


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0, not a time above 0"),
        (-1.0, "-1.0, not a time above 0"),
        (float("nan"), "nan, not a time above 0"),
        (2**62 / 1e9, "4611686018.427388, not a time of less than 2⁶² ns"),
        (1e21, "1e+21, not a time of less than 2⁶² ns"),
        (1e300, "1e+300, not a time of less than 2⁶² ns"),
        (10**400, "a number beyond all bounds, not a time of less than 2⁶² ns"),
    ],
    ids=["zero", "negative", "nan", "century", "long", "longer", "longest"],
)
def test_what_is_no_time_costs_its_benchmark_alone(value: float, shown: str) -> None:
    document = plain("pyperf.json")
    document["benchmarks"][0]["runs"][1]["values"][2] = value
    first, second = imported(document).series
    assert first.reason == f"benchmarks[0].runs[1].values[2] is {shown}"
    assert second.reason is None
