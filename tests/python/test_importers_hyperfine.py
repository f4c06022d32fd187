"""hyperfine's files, of both layouts: each timed run is a process."""

from __future__ import annotations

import statistics

import pytest
from foreign_files import by_name, imported, plain


@pytest.mark.parametrize("name", ["2.0", "1.20", "1.19", "1.20_same_command"])
def test_times_give_the_statistics_that_the_tool_wrote(name: str) -> None:
    document = plain(f"hyperfine_{name}.json")
    for result, series in zip(document["results"], imported(document).series, strict=True):
        summary = result["summary"]["time_wall_clock"] if name == "2.0" else result
        count = summary["count"] if name == "2.0" else len(summary["times"])
        assert series.n_samples == len(series.medians_ns) == count
        assert statistics.median(series.medians_ns) == pytest.approx(1e9 * summary["median"], rel=1e-12)
        assert statistics.mean(series.medians_ns) == pytest.approx(1e9 * summary["mean"], rel=1e-12)
        assert series.lack is None


def test_a_name_stands_for_its_command() -> None:
    assert [*by_name(imported(plain("hyperfine_2.0.json")))] == ["count to 1", "count to 400000"]
    assert [*by_name(imported(plain("hyperfine_1.20.json")))] == ["seq 1", "seq 400000"]


def test_one_command_under_two_parameters_is_told_apart() -> None:
    series = by_name(imported(plain("hyperfine_1.20_same_command.json")))
    assert [*series] == ["true (branch = main)", "true (branch = topic)"]
    document = plain("hyperfine_2.0.json")
    for result in document["results"]:
        result["name"] = "count"
    assert [*by_name(imported(document))] == ["count (n = 1)", "count (n = 400000)"]


@pytest.mark.parametrize("name", ["hyperfine_1.20_failures.json", "hyperfine_2.0_failures.json"])
def test_runs_that_failed_are_a_reason(name: str) -> None:
    series = by_name(imported(plain(name)))
    assert len(series["true"].medians_ns) == 4
    assert series["false"].medians_ns == []
    assert series["false"].reason == "failed: 4 of 4 runs, with exit code 1"


def test_one_run_that_failed_is_enough() -> None:
    document = plain("hyperfine_1.20.json")
    document["results"][0]["exit_codes"][3] = None
    document["results"][1]["exit_codes"][3:5] = [2, None]
    first, second = imported(document).series
    assert first.reason == "failed: 1 of 8 runs, with a signal"
    assert second.reason == "failed: 2 of 8 runs, with a signal, exit code 2"


def test_the_environment_has_our_keys() -> None:
    environment = imported(plain("hyperfine_2.0.json")).environment
    assert environment == {
        "hyperfine_version": "2.0.0",
        "os": "Linux",
        "machine": "x86_64",
        "parameters.n": "1, 400000",
    }


def test_other_parameters_of_one_name_are_told() -> None:
    """A name that `--command-name` gives need not contain the parameters."""
    environments = []
    for threads in ("1", "4"):
        document = plain("hyperfine_1.20.json")
        for result in document["results"]:
            result["parameters"] = {"threads": threads}
        environments.append(imported(document).environment)
    assert environments == [{"parameters.threads": "1"}, {"parameters.threads": "4"}]
