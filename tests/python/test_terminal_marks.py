"""Bars of intervals and histograms of samples in a terminal."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import screen_data
from commands import run_cli
from run_files import exactly, result, run, write

from fastrnns_rs import compare
from fastrnns_rs.views.comparison import rows_table, spark_histogram
from fastrnns_rs.views.comparison.number_axis import NAME, NumberAxis
from fastrnns_rs.views.interval_bars import IntervalBars
from fastrnns_rs.views.screen import plain
from fastrnns_rs.views.text import width

BARS = "▁▂▃▄▅▆▇█"
MARKS = {*BARS, "●", "┊", "◂", "▸"}


def test_a_bar_is_where_the_interval_is() -> None:
    drawn = IntervalBars([(-1.0, 0.0, 1.0), (1.0, 1.5, 2.0), None, (None, -2.0, None)], (-0.5, 0.5), 41)
    # The axis is -2 to 2 at 10 places per unit.
    assert (drawn.low, drawn.high) == (-2.0, 2.0)
    axis = drawn.axis()
    assert [place for place, sign in enumerate(axis) if sign != " "] == [15, 20, 25]
    first, second, nothing, alone = drawn.texts()
    assert first == " " * 10 + "─" * 10 + "●" + "─" * 10
    assert second[30:] == "─" * 5 + "●" + "─" * 5
    assert [second[place] for place in (15, 20, 25)] == ["┊", "│", "┊"]
    assert nothing == ""
    assert alone[0] == "●"


def test_an_interval_that_is_far_wider_than_the_others_is_cut() -> None:
    drawn = IntervalBars([(-0.02, 0.01, 0.02), (-50.0, 0.03, 90.0)], (-0.01, 0.01), 40)
    assert drawn.high - drawn.low < 1
    ordinary, wide = drawn.texts()
    assert wide.startswith("◂─")
    assert wide.endswith("─▸")
    assert 0 < ordinary.count("─") < 30


@pytest.mark.parametrize(
    "intervals", [[], [None], [(None, 0.0, None)], [(0.0, 0.0, 0.0)], [(-math.inf, 0.0, math.inf)]]
)
def test_bars_without_a_length_are_drawn(intervals: list[Any]) -> None:
    drawn = IntervalBars(intervals, None, 24)
    assert all(len(text) <= 24 for text in (drawn.axis(), *drawn.texts()))


def table(limit: int, *, bars: bool = True) -> list[str]:
    comparison = compare(screen_data.baseline(), screen_data.candidate(), history=False)
    return plain(rows_table.lines(comparison, limit, bars=bars)).splitlines()


def test_a_wide_table_has_the_bar_of_each_row() -> None:
    narrow, wide = table(80), table(140)
    assert not MARKS & {*"".join(narrow)}
    assert narrow == table(80, bars=False)
    assert max(map(width, wide)) <= 140
    assert [line[: len(other)].rstrip() for line, other in zip(wide, narrow, strict=True)][2:] == narrow[2:]
    assert [line.count("●") for line in wide] == [0, 0, 1, 1, 1, 1, 1, 1, 1]
    estimates = {line.split()[0]: line.index("●") for line in wide[2:]}
    ordered = sorted(estimates, key=estimates.__getitem__)
    # The largest decrease is on the left, and the largest increase on the right.
    assert (ordered[0], ordered[-1]) == ("cudnn/forward", "jit/forward")
    zero = wide[1].index("│")
    assert estimates["cudnn/forward"] < zero < estimates["jit/forward"]
    assert "-10 %" in wide[0]
    assert "+5.9 %" in wide[0]


def test_a_histogram_has_the_share_of_each_place() -> None:
    samples = [1.0] * 60 + [2.0] * 30 + [3.0] * 10
    heading, first, second, axis = spark_histogram.lines([("baseline", samples), ("candidate", [3.0] * 50)], "ms", 80)
    assert heading == "Timed samples, ms (100 and 50 per side)"
    assert axis == NumberAxis(1.0, 3.0, "ms", 80).line()
    place = NumberAxis(1.0, 3.0, "ms", 80).place
    assert {at: sign for at, sign in enumerate(first[NAME:]) if sign != " "} == {
        place(1.0): BARS[int(0.6 * 8)],
        place(2.0): BARS[int(0.3 * 8)],
        place(3.0): BARS[int(0.1 * 8)],
    }
    assert second[NAME:].strip() == BARS[-1]


def test_outliers_are_counted_and_leave_room_for_the_others() -> None:
    samples = [1.0 + place / 1000 for place in range(1000)]
    heading, *rows = spark_histogram.lines([("baseline", [*samples, 1e9]), ("candidate", samples)], "ms", 80)
    assert heading.startswith("Timed samples, ms (1,001 and 1,000 per side, ")
    assert heading.endswith(" outside of the axis)")
    assert rows[0].count("█") > 30
    assert max(map(width, rows)) <= 80


@pytest.mark.parametrize("sides", [([], [1.0]), ([5.0] * 9, [5.0] * 9)])
def test_samples_without_a_range_have_no_histogram(sides: tuple[list[float], list[float]]) -> None:
    assert not [*spark_histogram.lines([*zip(("a", "b"), sides, strict=True)], "ms", 80)]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    runs = [run([result(seed=seed, level_ns=level)]) for seed, level in ((1, 1e6), (2, 1.05e6))]
    return [write(tmp_path / f"{place}.json", one) for place, one in enumerate(runs)]


def test_explain_shows_samples_in_wide_output_only(files: list[str], tmp_path: Path) -> None:
    words = ["compare", *files, "--explain", "cudnn/forward", "--no-history"]
    short, wide = (run_cli(*words, *more).stdout for more in ([], ["--wide"]))
    assert len(short.splitlines()) <= 24
    assert not MARKS & {*short}
    assert "Timed samples, ms (150 per side" in wide
    assert len({*BARS} & {*wide}) > 4
    # Nothing else differs, but for statistics that are not judged.
    added = [line for line in wide.splitlines() if line not in short.splitlines()]
    assert len(added) == 7
    assert max(map(width, wide.splitlines())) <= 80
    output = tmp_path / "out.txt"
    assert run_cli(*words, "--wide", "--output", output).status == 0
    assert output.read_text() == wide


def test_wide_output_has_bars_on_a_wide_terminal(files: list[str]) -> None:
    words = ["compare", *files, "--wide", "--no-history"]
    assert "●" in run_cli(*words, COLUMNS="140").stdout
    assert "●" not in run_cli(*words, COLUMNS="80").stdout
    assert "●" not in run_cli(*words[:-2], "--no-history", COLUMNS="140").stdout


def test_a_run_has_bars_on_a_wide_terminal(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    screen_data.baseline().save(path)
    done = run_cli("show", path, "--wide", COLUMNS="120")
    lines = [line for line in done.stdout.splitlines() if "●" in line]
    assert len(lines) == 6
    lengths = {line.split()[0]: line.count("─") for line in lines}
    assert max(lengths, key=lengths.__getitem__) == "py/backward"
    assert "●" not in run_cli("show", path, "--wide", COLUMNS="80").stdout
    assert "●" not in run_cli("show", path, COLUMNS="120").stdout


def test_terminals_without_utf_8_have_neither(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastrnns_rs.cli import display

    monkeypatch.setattr(display, "is_ascii", lambda _stream: True)
    path = tmp_path / "run.json"
    screen_data.baseline().save(path)
    for words in (
        ["compare", *files, "--wide", "--no-history"],
        ["compare", *files, "--explain", "cudnn/forward", "--wide", "--no-history"],
        ["show", str(path), "--wide"],
    ):
        done = run_cli(*words, COLUMNS="140")
        assert done.status == 0
        assert not MARKS & {*done.stdout}


def test_runs_without_numbers_have_no_bars(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", run([exactly([5, 5, 5])]))
    assert run_cli("show", path, "--wide", COLUMNS="140").status == 0
    empty = replace(run([]), results=[])
    assert run_cli("show", write(tmp_path / "empty.json", empty), "--wide", COLUMNS="140").status == 0
