"""`compare` on real files of other tools, and on times that no clock tells."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path

import pytest
import scipy.stats
from foreign_files import FOLDER, plain
from run_files import result as made
from run_files import run, series

from fastrnns_rs import UsageError, compare
from fastrnns_rs.verbs.compare.series_matching import Pair
from fastrnns_rs.verbs.compare.verdicts import decide


def slower(name: str, folder: Path, tool_keys: set[str]) -> str:
    """A copy of a file, all of whose times are half as long again."""

    def grown(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {name: grown(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [grown(one, key) for one in value]
        return value * 1.5 if key in tool_keys and isinstance(value, int | float) else value

    path = folder / name
    path.write_text(json.dumps(grown(plain(name))))
    return str(path)


@pytest.mark.parametrize("name", ["pyperf.json", "hyperfine_1.20.json", "hyperfine_2.0.json"])
def test_formats_with_processes_have_verdicts(name: str, tmp_path: Path) -> None:
    found = compare(FOLDER / name, slower(name, tmp_path, {"values", "times", "value"}))
    judged = [row for row in found.rows if row.p_value is not None]
    assert judged
    for row in judged:
        assert row.ratio == pytest.approx(1.5)
        assert row.baseline.n_processes == row.candidate.n_processes >= 3
    assert found.geometric_mean.n == len(judged)
    assert found.counts.faster == found.conditional_counts.faster == 0


def test_a_file_is_one_session(tmp_path: Path) -> None:
    """Two files were measured at different times, so their verdicts hold for these times only."""
    name = "hyperfine_1.20.json"
    found = compare(FOLDER / name, slower(name, tmp_path, {"times"}), fail_on=["regression"])
    assert {row.basis for row in found.rows} == {"two_sessions"}
    assert {row.verdict for row in found.rows} <= {None, "inconclusive"}
    assert found.conditional_counts.slower > 0
    assert found.exit_code == 4
    (warning,) = [one for one in found.warnings if one.code == "one_session"]
    assert warning.evidence == (
        "the difference between sessions is unknown (a file of another tool counts as one session)"
    )
    assert "compare --baseline FILE... --candidate FILE..." in warning.hint


def test_three_files_per_side_are_compared_by_sessions(tmp_path: Path) -> None:
    sides: list[list[Path]] = []
    for name, factor in (("before", 1.0), ("after", 1.5)):
        paths = [tmp_path / f"{name}{number}.json" for number in range(3)]
        for number, path in enumerate(paths):
            whole = plain("hyperfine_1.20.json")
            for result in whole["results"]:
                result["times"] = [
                    one * factor * (1 + number / 1000 + place / 1e6) for place, one in enumerate(result["times"])
                ]
            path.write_text(json.dumps(whole))
        sides.append(paths)
    found = compare(*sides, fail_on=["regression"])
    row = found.rows[0]
    assert (row.basis, row.verdict) == ("sessions", "slower")
    assert found.exit_code == 3
    means = [
        [statistics.fmean(map(math.log, json.loads(path.read_text())["results"][0]["times"])) for path in paths]
        for paths in reversed(sides)
    ]
    assert row.p_value == pytest.approx(scipy.stats.ttest_ind(*means, equal_var=False).pvalue, rel=1e-6)


def test_hyperfine_by_the_numbers_of_scipy(tmp_path: Path) -> None:
    name = "hyperfine_1.20.json"
    found = compare(FOLDER / name, slower(name, tmp_path, {"times"}))
    times = {one["command"]: one["times"] for one in plain(name)["results"]}
    row = found.rows[0]
    logs = [[math.log(factor * one) for one in times[row.runner]] for factor in (1.5, 1.0)]
    expected = scipy.stats.ttest_ind(*logs, equal_var=False)
    assert row.p_value == pytest.approx(expected.pvalue, rel=1e-6)


@pytest.mark.parametrize(("name", "status"), [("pytest_benchmark.json", 4), ("google_benchmark.json", 1)])
def test_formats_without_processes_are_described(name: str, status: int, tmp_path: Path) -> None:
    found = compare(FOLDER / name, slower(name, tmp_path, {"data", "median", "real_time"}), fail_on=["inconclusive"])
    for row in found.rows:
        if row.ratio is not None:
            assert row.ratio == pytest.approx(1.5)
            assert (row.verdict, row.p_value, row.ratio_ci_low) == (None, None, None)
            assert row.reason.endswith("descriptive only")
            assert row.baseline.n_processes == 0
    assert found.geometric_mean is None
    # That of google-benchmark has benchmarks that failed.
    assert found.exit_code == status


@pytest.mark.parametrize("name", ["pyperf.json", "hyperfine_1.20.json"])
def test_a_copy_in_another_layout_is_no_second_measurement(name: str, tmp_path: Path) -> None:
    copied, other = tmp_path / "copy.json", slower(name, tmp_path, {"values", "times", "value"})
    copied.write_text(json.dumps(plain(name), indent=7) + "\n")
    with pytest.raises(UsageError, match=r"duplicate run: .*copy\.json' contain the same run"):
        compare([FOLDER / name, copied], [other])


def test_a_process_counts_once_in_a_file_and_in_files(tmp_path: Path) -> None:
    whole = plain("pyperf.json")
    runs = whole["benchmarks"][0]["runs"]
    paths = [tmp_path / f"{part}.json" for part in ("first", "second", "twice")]
    for path, kept in zip(paths, (runs[:5], runs[4:], [*runs, runs[3]]), strict=True):
        whole["benchmarks"][0]["runs"] = kept
        path.write_text(json.dumps(whole))
    with pytest.raises(UsageError, match="contain the same run"):
        compare(paths[:2], [FOLDER / "pyperf.json"])
    with pytest.raises(UsageError, match=r"duplicate process: .*twice\.json' contains a process twice"):
        compare(FOLDER / "pyperf.json", paths[2])


def test_processes_of_a_coarse_clock_may_be_equal(tmp_path: Path) -> None:
    """The whole file was refused as damaged."""
    whole = plain("pyperf.json")
    runs = [one for one in whole["benchmarks"][0]["runs"] if "values" in one]
    for index, one in enumerate(runs):
        one["values"] = [0.001 * step for step in (5, 5 + index % 3, 9)]
    coarse = tmp_path / "coarse.json"
    coarse.write_text(json.dumps(whole))
    found = compare(FOLDER / "pyperf.json", coarse)
    assert found.rows[0].candidate.n_processes == len(runs) > 3


def test_times_that_no_clock_tells_are_no_numbers(tmp_path: Path) -> None:
    sides = []
    for index, seconds in enumerate((1e-305, 1e14)):
        document = plain("pytest_benchmark.json")
        for one in document["benchmarks"]:
            one["stats"]["data"] = [seconds] * 3
        sides.append(tmp_path / f"{index}.json")
        sides[-1].write_text(json.dumps(document))
    found = compare(*sides)
    assert {row.ratio for row in found.rows} == {None}
    assert found.rows[0].reason.startswith("benchmarks[0].stats.data[0] is 1e-305, not a time of at least 1e-06 ns")
    assert found.geometric_mean is None


def test_a_ratio_that_no_number_holds_is_told() -> None:
    for times in ((1e-300, 1e300), (1e300, 1e-300)):
        one, other = (series("r", [time], lack="no process level: descriptive only") for time in times)
        pair = Pair(name="r", baseline=one, candidate=other, conflicts=[], intended=[], title="r")
        with pytest.raises(UsageError, match="'r': no number holds the ratio"):
            decide([pair], 0.01)


def test_a_counter_that_is_no_number_costs_no_times(tmp_path: Path) -> None:
    """google-benchmark writes NaN and Infinity for counters; our own files never hold such a token."""
    document = plain("google_benchmark.json")
    for index, token in enumerate([math.nan, math.inf, -math.inf]):
        document["benchmarks"][index]["a_counter"] = token
    path = tmp_path / "counters.json"
    path.write_text(json.dumps(document))
    assert "NaN" in path.read_text()
    found = compare(path, FOLDER / "google_benchmark.json")
    assert {row.ratio for row in found.rows} <= {None, 1.0}
    own = tmp_path / "own.json"
    own.write_text('{"schema": "fastrnns-rs/run", "schema_version": "1.0", "run_id": NaN}')
    with pytest.raises(UsageError, match="NaN is not a number in JSON"):
        compare(own, own)


def hyperfine(path: Path, times: list[float]) -> Path:
    path.write_text(json.dumps({"results": [{"command": "./tool", "times": times, "exit_codes": [0] * len(times)}]}))
    return path


def test_a_file_with_a_time_of_0_is_not_left_out_of_its_side(tmp_path: Path) -> None:
    """hyperfine subtracts the start of the shell, and writes 0 for a shorter run."""
    times = [[1.0 + 0.01 * file + 0.001 * run for run in range(10)] for file in range(4)]
    sides = [[hyperfine(tmp_path / f"{side}{number}.json", one) for number, one in enumerate(times)] for side in "ab"]
    hyperfine(sides[1][3], [0.3, 0.0, *[0.3] * 8])
    [row] = compare(*sides).rows
    assert row.verdict is None
    assert row.conditional_verdict is None
    assert "times[1] is 0.0, not a time above 0" in str(row.reason)


def test_only_counters_of_google_benchmark_may_repeat_a_key(tmp_path: Path) -> None:
    path, other = tmp_path / "run.json", tmp_path / "other.json"
    run([made()]).save(path)
    text = path.read_text().strip().removesuffix("}")
    for more in ('"context": 0, "benchmarks": 0, "results": []', '"x": NaN, "context": 0, "benchmarks": 0'):
        other.write_text(f"{text}, {more}}}")
        with pytest.raises(UsageError, match=r"duplicate key: 'results'|NaN is not a number"):
            compare(path, other)
    deep = "[" * 100_000 + "]" * 100_000
    for odd in ('"a": NaN', '"a": 1, "a": 2'):
        other.write_text(f'{{{odd}, "context": {{}}, "benchmarks": [], "x": {deep}}}')
        with pytest.raises(UsageError, match="nested too deeply"):
            compare(other, other)
    other.write_text('{"context": {}, "benchmarks": [{"a": NaN}], "benchmarks": []}')
    with pytest.raises(UsageError, match="NaN is not a number"):
        compare(other, other)


@pytest.mark.parametrize("name", ["ph", "schemaVersion"])
def test_a_runner_of_the_name_of_a_key_of_traces_is_no_capture(name: str, tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        run([made(name)]).save(path)
    assert compare(*paths).rows[0].runner == name
    for path in paths:
        hyperfine(path, [1.0, 1.1, 1.2])
        path.write_text(path.read_text().replace("./tool", name))
    assert compare(*paths).rows[0].runner == name
