"""google-benchmark's files: repetitions of one process."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from foreign_files import FOLDER, by_name, codes, imported, plain

from fastrnns_rs import compare
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.verbs.compare.run_files import load

NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def aggregates(document: Any, name: str) -> dict[str, tuple[float, int]]:
    """What the tool computed, in nanoseconds, with its count of repetitions, by benchmark."""
    rows = [row for row in document["benchmarks"] if row.get("aggregate_name") == name]
    return {row["run_name"]: (row["real_time"] * NS[row["time_unit"]], row["repetitions"]) for row in rows}


def test_repetitions_give_the_aggregates_that_the_tool_wrote() -> None:
    document = plain("google_benchmark.json")
    series = by_name(imported(document))
    medians, means = aggregates(document, "median"), aggregates(document, "mean")
    measured = {name: one for name, one in series.items() if one.reason is None}
    assert len(measured) == 5
    for name, one in measured.items():
        assert statistics.median(one.medians_ns) == pytest.approx(medians[name][0], rel=1e-12)
        assert statistics.mean(one.medians_ns) == pytest.approx(means[name][0], rel=1e-9)
        assert one.n_samples == len(one.medians_ns) == medians[name][1] == 5
        assert one.lack == "no process level: descriptive only"


def test_a_counter_may_have_the_name_of_a_key(tmp_path: Path) -> None:
    text = json.dumps(plain("google_benchmark.json"))
    path = tmp_path / "x.json"
    path.write_text(text.replace('"time_unit"', '"real_time": 1e9, "threads": NaN, "time_unit"'))
    assert load(path)["benchmarks"][0]["real_time"] == json.loads(text)["benchmarks"][0]["real_time"]


def test_all_units_occur_in_the_file() -> None:
    assert {row.get("time_unit") for row in plain("google_benchmark.json")["benchmarks"]} >= NS.keys()


def test_aggregates_alone_give_the_median_and_a_label() -> None:
    document = plain("google_benchmark_aggregates.json")
    side = imported(document)
    medians = aggregates(document, "median")
    for series in side.series:
        if series.reason is None:
            assert series.medians_ns == pytest.approx([medians[series.runner][0]], rel=1e-12)
            assert series.n_samples == 5
            assert series.lack is not None
            assert "only the median" in series.lack
    assert codes(side) == ["no_process_level", "not_interleaved", "no_samples"]


@pytest.mark.parametrize("name", ["google_benchmark.json", "google_benchmark_aggregates.json"])
def test_errors_and_times_of_nothing_are_reasons(name: str) -> None:
    series = by_name(imported(plain(name)))
    assert series["failing"].reason == "failed: no such device"
    assert "is 0.0, not a time above 0" in str(series["instant/iterations:2/manual_time"].reason)


def test_a_skipped_benchmark_says_so() -> None:
    document = plain("google_benchmark.json")
    document["benchmarks"][0] |= {"skipped": True, "skip_message": "needs 8 cores"}
    assert imported(document).series[0].reason == "skipped: needs 8 cores"


def test_fits_are_no_benchmarks() -> None:
    rows = plain("google_benchmark.json")["benchmarks"]
    assert {"BigO", "RMS"} <= {row.get("aggregate_name") for row in rows}
    assert "summed_microseconds" not in by_name(imported(plain("google_benchmark.json")))


def test_tokens_that_are_no_json_are_read() -> None:
    text = (FOLDER / "google_benchmark.json").read_text(encoding="utf-8")
    first = text.index('"real_time": ') + len('"real_time": ')
    text = text[:first] + "NaN" + text[text.index(",", first) :].replace('"cpu_time": ', '"x": -Infinity, "cpu_time": ')
    series = imported(json.loads(text)).series
    assert series[0].reason == "benchmarks[0].real_time is nan, not a time above 0"
    assert series[1].reason is None


def test_one_name_registered_twice_is_two_benchmarks() -> None:
    document = plain("google_benchmark.json")
    again = [row | {"family_index": 99} for row in document["benchmarks"] if row["run_name"] == "sorted_nanoseconds"]
    document["benchmarks"] += again
    series = by_name(imported(document))
    assert series["sorted_nanoseconds #2"].medians_ns == series["sorted_nanoseconds"].medians_ns


def test_the_environment_has_our_keys() -> None:
    document = plain("google_benchmark.json")
    environment = imported(document).environment
    assert environment["cpu_count"] == document["context"]["num_cpus"]
    assert environment["google_benchmark_build_type"] == "release"
    assert not {"host_name", "executable", "date"} & environment.keys()


def test_a_file_of_another_tool_on_the_same_side_brings_no_verdict(tmp_path: Path) -> None:
    """Repetitions of one file had the sessions of the other: a fault, or a comparison that nothing read."""
    aggregate = {"run_type": "aggregate", "aggregate_name": "median", "run_name": "x", "name": "x_median"}
    places = {"family_index": 0, "per_family_instance_index": 0, "repetitions": 5, "time_unit": "s", "real_time": 1.0}
    documents = {
        "process": {"results": [{"command": "x", "times": [1.01, 1.02, 1.03], "exit_codes": [0, 0, 0]}]},
        "other": {"results": [{"command": "x", "times": [1.11, 1.12, 1.13], "exit_codes": [0, 0, 0]}]},
        "none": {"context": {"num_cpus": 2, "library_version": "1.8"}, "benchmarks": [aggregate | places]},
    }
    for name, one in documents.items():
        (tmp_path / name).write_text(json.dumps(one))
    (tmp_path / "slower").write_text(json.dumps(documents["none"]).replace("1.0,", "1.2,"))
    sides = [str(tmp_path / "process"), str(tmp_path / "none")], [str(tmp_path / "other"), str(tmp_path / "slower")]
    found = [compare(sides[0], [one], statistic=how) for one in sides[1] for how in ("median", "mean")]
    assert [row.verdict for one in found for row in one.rows] == [None] * 4
    assert [Comparison.from_dict(one.to_dict()) for one in found] == found
