"""pytest-benchmark's files: rounds of one process."""

from __future__ import annotations

import statistics

import pytest
from foreign_files import by_name, codes, imported, plain


def test_samples_give_the_statistics_that_the_tool_wrote() -> None:
    document = plain("pytest_benchmark.json")
    series = by_name(imported(document))
    assert len(series) == len(document["benchmarks"]) == 4
    for benchmark in document["benchmarks"]:
        found, stats = series[benchmark["fullname"]], benchmark["stats"]
        assert found.n_samples == len(found.medians_ns) == stats["rounds"]
        assert statistics.median(found.medians_ns) == pytest.approx(1e9 * stats["median"], rel=1e-12)
        assert statistics.mean(found.medians_ns) == pytest.approx(1e9 * stats["mean"], rel=1e-12)
        assert statistics.stdev(found.medians_ns) == pytest.approx(1e9 * stats["stddev"], rel=1e-9)
        assert found.lack == "no process level: descriptive only"


def test_without_samples_there_is_the_median_and_a_label() -> None:
    document = plain("pytest_benchmark_summary.json")
    side = imported(document)
    for benchmark, series in zip(document["benchmarks"], side.series, strict=True):
        assert "data" not in benchmark["stats"]
        assert series.medians_ns == [1e9 * benchmark["stats"]["median"]]
        assert series.n_samples == benchmark["stats"]["rounds"]
        assert series.lack is not None
        assert "only the median" in series.lack
    assert codes(side) == ["no_process_level", "not_interleaved", "no_samples"]


def test_the_environment_has_our_keys() -> None:
    document = plain("pytest_benchmark.json")
    document["commit_info"] |= {"id": "0123abc", "dirty": True}
    environment = imported(document).environment
    assert environment["python_version"] == document["machine_info"]["python_version"]
    assert environment["os"] == "Linux 6.18"
    assert environment["cpu_model"] == document["machine_info"]["cpu"]["brand_raw"]
    assert (environment["git.commit"], environment["git.dirty"]) == ("0123abc", True)
    assert not {"node", "project", "branch"} & environment.keys()


def test_a_folder_without_a_checkout_has_no_commit() -> None:
    assert "git.commit" not in imported(plain("pytest_benchmark.json")).environment


def test_no_samples_at_all_is_a_reason() -> None:
    document = plain("pytest_benchmark.json")
    document["benchmarks"][0]["stats"]["data"] = []
    assert imported(document).series[0].reason == "benchmarks[0].stats.data is empty"
