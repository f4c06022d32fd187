"""`show` and `compare` on files that other tools really wrote."""

from __future__ import annotations

import copy
import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from foreign_files import FOLDER, NAMES, imported, plain
from test_compare_command import call, validated

__all__ = ["call"]


def process_medians(document: Any, name: str) -> list[float]:
    """The medians of the processes of a pyperf benchmark, in nanoseconds."""
    (found,) = (one for one in document["benchmarks"] if one["metadata"]["name"] == name)
    return [1e9 * statistics.median(one["values"]) for one in found["runs"] if one.get("values")]


def doubled(document: Any) -> Any:
    """The pyperf file with each time twice as long."""
    document = copy.deepcopy(document)
    for benchmark in document["benchmarks"]:
        for one in benchmark["runs"]:
            one["values"] = [2 * value for value in one.get("values", [])] or None
            if one["values"] is None:
                del one["values"]
    return document


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_shown_with_its_warnings(name: str, call: Any) -> None:
    side = imported(plain(name), FOLDER / name)
    done = call("show", FOLDER / name)
    assert done.status == 0
    _, *lines = done.stdout.splitlines()
    assert [line.startswith(one.runner) for line, one in zip(lines, side.series, strict=True)] == [True] * len(lines)
    assert done.stderr.count("  hint: ") == len(side.warnings) > 0
    assert all(f"warning[{one.code}]: " in done.stderr for one in side.warnings)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_differs_from_itself_in_nothing(name: str, call: Any, tmp_path: Path) -> None:
    side = imported(plain(name), FOLDER / name)
    again = tmp_path / name
    again.write_bytes((FOLDER / name).read_bytes())
    done = call("compare", FOLDER / name, again, "--json")
    # A program that failed in the candidate too is one that failed.
    assert done.status == any(one.reason is not None for one in side.series)
    rows = validated(done.stdout)["rows"]
    assert [row["runner"] for row in rows] == [one.runner for one in side.series]
    for row, one in zip(rows, side.series, strict=True):
        assert (row["phase"], row["group"], row["problem"]) == (None, None, None)
        assert row["ratio"] == (pytest.approx(1.0, rel=1e-12) if one.medians_ns else None)
        # Equal times of few processes are no proof that there is no difference.
        assert row["verdict"] == (None if one.lack or not one.medians_ns else "inconclusive")
        assert row["ratio_ci_low"] is None or row["ratio_ci_low"] < 1 < row["ratio_ci_high"]
    for words in ([], ["--format", "markdown"], ["--format", "junit"]):
        assert call("compare", FOLDER / name, again, *words).status == done.status


def test_the_numbers_are_those_of_the_file(call: Any, tmp_path: Path) -> None:
    document = plain("pyperf.json")
    slower = tmp_path / "slower.json"
    slower.write_text(json.dumps(doubled(document)))
    done = call("compare", FOLDER / "pyperf.json", slower, "--json")
    assert done.status == 0
    rows = {row["runner"]: row for row in validated(done.stdout)["rows"]}
    assert [*rows] == ["sorted", "sum"]
    for name, row in rows.items():
        medians = process_medians(document, name)
        middle = math.exp(statistics.fmean(map(math.log, medians)))
        assert row["baseline"]["n_processes"] == row["candidate"]["n_processes"] == len(medians) == 4
        assert row["baseline"]["estimate_ns"] == pytest.approx(middle, rel=1e-12)
        assert row["ratio"] == pytest.approx(2.0, rel=1e-12)


def test_a_derivation_shows_the_numbers_of_the_file(call: Any) -> None:
    done = call("compare", FOLDER / "pyperf.json", FOLDER / "pyperf.json", "--explain", "sum")
    assert done.status == 0
    shown = "  ".join(f"{value / 1e3:.3f}" for value in sorted(process_medians(plain("pyperf.json"), "sum")))
    sides = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  baseline   ")]
    sides += [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  candidate  ")]
    assert sides[0] == ["baseline", shown]
    assert ["candidate", shown] in sides


def test_a_file_of_one_tool_is_none_of_another(call: Any) -> None:
    done = call("compare", FOLDER / "pyperf.json", FOLDER / "pytest_benchmark.json")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 2
