"""Golden screens of `compare`, and of comparisons at a Python prompt.

The process medians are those of screen_data.py. Two figures are not those of a user with a history: the two compared
sessions are no evidence for the variance between sessions, so that 0 of 8 are known.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import screen_data
from conftest import Done, run_cli
from run_files import both, exactly, failed, result, run, write
from screens import screen

import fastrnns_rs
from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.comparison import Comparison, Row
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.compare.compared_sources import compare_sources
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.views.text import shell_word, width

#: Sessions that differ by a standard deviation of 0.5 %, relative to the baseline.
LEVELS = (1.0, 1.004, 0.995, 1.009, 1.001, 0.992, 1.006, 0.998, 0.993, 1.003, 0.999)
NAMES = ("@last~1", "@last")


def with_source(made: Run) -> Run:
    """The run whose runners have a known source, without which no `ab` is suggested."""
    return replace(made, results=[replace(one, source_sha256="a" * 64) for one in made.results])


@pytest.fixture
def kept(history: RunHistory) -> RunHistory:
    """A history with the two runs."""
    history.keep(with_source(screen_data.baseline()))
    history.keep(with_source(screen_data.candidate()))
    return history


@pytest.fixture
def eleven(history: RunHistory) -> RunHistory:
    """A history with eleven sessions before the two runs."""
    for day, level in enumerate(LEVELS, 1):
        medians = {
            name: tuple(tuple(level * one for one in phase) for phase in phases)
            for name, phases in screen_data.BASELINE.items()
        }
        history.keep(with_source(screen_data.made(medians, f"2026-11-{day:02}T10:00:00Z")))  # type: ignore[arg-type]
    history.keep(with_source(screen_data.baseline()))
    history.keep(with_source(screen_data.candidate()))
    return history


@pytest.mark.parametrize("columns", [None, 60, 200])
def test_compare(columns: int | None, kept: RunHistory) -> None:
    variables = {} if columns is None else {"COLUMNS": str(columns)}
    done = run_cli("compare", *NAMES, **variables)
    assert done.status == 0
    assert done.stdout + done.stderr == screen("compare" if columns is None else f"compare: {columns} columns")
    # The result alone is on stdout.
    assert done.stderr.startswith("\nwarning[one_session]: ")


def test_compare_with_eight_sessions(eleven: RunHistory) -> None:
    done = run_cli("compare", *NAMES)
    assert done.stdout + done.stderr == screen("compare: eight sessions")
    done = run_cli("compare", *NAMES, "--explain", "jit/forward")
    assert done.stdout == screen("compare --explain: eight sessions")
    # The interval is that of eleven session means, and so of 10 degrees of freedom.
    means = [math.log(level) for level in LEVELS]
    spread = math.fsum((one - math.fsum(means) / 11) ** 2 for one in means) / 10
    low, high = (math.exp(0.040953194 + sign * 2.228139 * math.sqrt(2 * spread)) for sign in (-1, 1))
    assert f"95 %: t = 2.228, {low:.4f} to {high:.4f}" in done.stdout


def test_compare_wide(kept: RunHistory) -> None:
    done = run_cli("compare", *NAMES, "--wide")
    assert done.stdout + done.stderr == screen("compare --wide")


def test_compare_explain(kept: RunHistory) -> None:
    done = run_cli("compare", *NAMES, "--explain", "jit/forward")
    assert (done.stdout, done.stderr) == (screen("compare --explain"), "")
    # Warnings of the row come last.
    done = run_cli("compare", *NAMES, "--explain", "py")
    assert done.stdout == screen("compare --explain: inconclusive")
    assert done.stderr.startswith("\nwarning[several_modes]: candidate: ")


def test_a_conditional_verdict_is_no_gate(kept: RunHistory) -> None:
    assert run_cli("compare", *NAMES, "--fail-on", "regression").status == 4


def test_compare_in_ascii_and_in_colours(kept: RunHistory) -> None:
    def process(*words: str, **variables: str) -> Done:
        command = [sys.executable, "-m", "fastrnns_rs", "compare", *NAMES, *words]
        found = subprocess.run(command, capture_output=True, check=True, env={**environment, **variables})
        return Done(0, found.stdout.decode(), found.stderr.decode())

    import os

    environment = {**os.environ, "COLUMNS": "80"}
    plain = process()
    ascii_only = process(PYTHONIOENCODING="ascii")
    assert (ascii_only.stdout + ascii_only.stderr).isascii()
    for shown, expected in zip(ascii_only.stdout.splitlines(), plain.stdout.splitlines(), strict=True):
        assert len(shown) <= 80
        if expected.startswith(("cudnn", "jit", "py", "geometric")):
            assert shown == expected.replace("↓", "v").replace("↑", "^")
    coloured = process("--color", "always").stdout
    assert "\x1b[31m(↑ slower)\x1b[39m" in coloured
    assert "\x1b[1m1 slower, 1 faster, " in coloured
    assert "\x1b[33m? inconclusive\x1b[39m" in coloured
    assert "\x1b" not in process("--color", "never", FORCE_COLOR="1").stdout
    assert process("--quiet").stderr == ""


def compared(first: Run, second: Run, **options: Any) -> Comparison:
    return fastrnns_rs.compare(first, second, history=False, **options)


def test_comparison_at_a_prompt(kept: RunHistory) -> None:
    comparison = fastrnns_rs.compare(*NAMES)
    texts = [f"{comparison!r}", f"{comparison['jit/forward']!r}"]
    for name in ("jit", "jti/forward"):
        with pytest.raises(KeyError) as raised:
            comparison[name]
        texts.append(f"KeyError: {raised.value}")
    assert "\n".join(texts) + "\n" == screen("Python: comparison")
    assert str(comparison) == repr(comparison)
    assert comparison.render() == screen("compare")
    assert (len(comparison), "jit" in comparison, "jti" in comparison, comparison.rows[0] in comparison) == (
        *(6, True, False),
        True,
    )
    assert [row.runner for row in comparison if isinstance(row, Row)] == ["cudnn", "cudnn", "jit", "jit", "py", "py"]


def test_parts_at_a_prompt_are_one_line() -> None:
    comparison = compared(screen_data.baseline(), screen_data.candidate())
    row = comparison.rows[2]
    parts = [
        *comparison.rows,
        *(row.baseline, comparison.baseline, comparison.method, comparison.counts, comparison.geometric_mean),
        *comparison.environment_differences,
    ]
    for one in parts:
        shown = repr(one)
        assert shown.startswith(f"<{type(one).__name__}")
        assert shown.endswith(">")
        assert width(shown) <= 80
        assert "_ns" not in shown
    assert repr(row.baseline) == "<Figures: 13.78 [13.66, 13.89] ms, 5 processes, 100 samples>"
    assert repr(comparison.geometric_mean) == "<GeometricMean: -0.2 [-3.0, +2.7] %, 3 runners>"
    long = replace(row, runner="a_runner_with_a_name_that_is_far_too_long_for_one_line_of_a_terminal_of_80_columns")
    assert width(repr(long)) <= 80
    assert repr(replace(row, ratio=None, conditional_verdict=None)) == "<Row jit/forward: 13.78 → 14.35 ms, no verdict>"


def test_long_comparisons_are_cut_at_a_prompt() -> None:
    rows = [result(f"runner_{number}", backward=False) for number in range(20)]
    shown = repr(compared(run(rows), run(rows))).splitlines()
    # The first line, two headings, twelve rows, the others, and the mean.
    assert len(shown) == 1 + 2 + 12 + 1 + 1
    assert shown[-2] == "… 8 more"


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
@pytest.mark.parametrize("wide", [False, True])
def test_nothing_is_wider_than_the_terminal(columns: int, wide: bool) -> None:
    names = [f"a_runner_with_quite_a_long_name_{end}" for end in ("forward_fused", "forward_plain")]
    first = run([result(one) for one in names] + [failed("aten"), exactly([10, 11, 12], "tiny"), result("lone")])
    second = run([result(one, level_ns=2.5e6) for one in names] + [result("aten"), exactly([900, 950, 990], "tiny")])
    warnings = [RunWarning(code="odd", message="one word " * 20, evidence="x" * 20, hint="Do this: " + "word " * 20)]
    text = compared(first, replace(second, warnings=warnings)).render(width=columns, wide=wide)
    # Commands to copy are not cut.
    assert [line for line in text.splitlines() if width(line) > columns and "fastrnns-rs" not in line] == []
    labels = [line.partition("  ")[0] for line in text.splitlines() if line.endswith("↑ slower") and "tiny" not in line]
    assert len(labels) == len({*labels}) == 4


def test_a_change_far_from_nothing_is_a_factor() -> None:
    text = compared(run([exactly([1000, 1010, 1020])]), run([exactly([2500, 2510, 2520])])).render()
    assert "×2.49 [×2.43, ×2.54]" in text
    halved = compared(run([exactly([1000, 1010, 1020])]), run([exactly([300, 301, 302])])).render()
    assert "×0.30 [×0.29, ×0.30]" in halved


def test_very_wide_intervals_leave_room_for_the_verdict() -> None:
    text = compared(run([exactly([1000, 9000, 80000])]), run([exactly([90, 1000, 30])])).render()
    [row] = [line for line in text.splitlines() if line.startswith("cudnn/")]
    assert "[×<0.01, ×" in row
    assert row.endswith("? inconclusive")
    assert width(row) <= 80


def test_names_of_runs_need_no_quotes() -> None:
    words = ["@last~1", "@tag:a", "a b.json", "~x", "x;y~", "before.json", "A=~/x"]
    assert [*map(shell_word, words)] == [
        *("@last~1", "@tag:a", "'a b.json'", "'~x'", "'x;y~'", "before.json", "'A=~/x'")
    ]


def test_other_numbers_of_processes_are_beside_the_verdict() -> None:
    first, second = screen_data.baseline(), screen_data.candidate()
    jit = first.results[1]
    first.results[1] = replace(jit, processes=jit.processes[:4])
    comparison = compared(first, second)
    lines = comparison.render().splitlines()
    [row] = [line for line in lines if line.startswith("jit/backward")]
    assert row.endswith("? inconclusive (4+5)")
    # The warning about unequal numbers marks the figure.
    assert "] !  " in row
    assert not [line for line in lines if line.startswith("cudnn/") and ("(5+5)" in line or "!" in line)]
    assert all(width(line) <= 80 for line in lines)


def open_rows(*needed: int | None) -> str:
    """The screen of inconclusive rows that need these numbers of processes."""
    made = compared(screen_data.baseline(), screen_data.candidate())
    row = next(one for one in made.rows if one.verdict == "inconclusive")
    row = replace(row, phase="forward", additional_processes=None)
    rows = [replace(row, runner=f"r{number}", required_processes=one) for number, one in enumerate(needed)]
    made.rows[:] = rows
    return made.render(width=200)


def test_suggested_processes_are_rounded() -> None:
    text = open_rows(18, 19, 23, 148, 200, 18)
    assert (
        "inconclusive: r0/forward and r5/forward need a new comparison with about 18 processes per side, "
        "r1/forward with about 19, r2/forward with about 20, r3/forward with about 100, 1 more rows with others\n"
    ) in text
    text = open_rows(201, 5000)
    assert "\nr0/forward and r1/forward cannot be decided with 200 processes per side\n" in text
    assert "\nr0/forward cannot be decided with 200 processes per side\n" in open_rows(201)
    assert "inconclusive: " not in open_rows(None)


def test_a_row_that_no_number_of_processes_decides_says_so() -> None:
    """Numbers above 100,000 are not computed, and the row had no line at all."""
    sides = run([exactly([1000, 1010, 1020])]), run([exactly([1020, 1000, 1010])])
    outcome = compare_sources([sides[0]], [sides[1]], margin=0)
    row = outcome.comparison.rows[0]
    assert (row.verdict, row.required_processes) == ("inconclusive", None)
    assert "\ncudnn/forward cannot be decided with 200 processes per side\n" in outcome.comparison.render()
    assert "This difference cannot be decided with 200 processes per side." in outcome.explain("cudnn/forward")
    # More processes do not replace sessions.
    sessions = replace(outcome.comparison, rows=[replace(row, basis="sessions")])
    assert "cannot be decided" not in sessions.render()


def test_a_row_that_only_the_table_overrules_says_so() -> None:
    text = (Path(__file__).parents[1] / "data" / "views" / "comparison.json").read_text(encoding="utf-8")
    shown = Comparison.from_dict(json.loads(text)).render()
    assert "inconclusive: jit/backward is slower by itself, but not among 9 rows: its\n" in shown


def test_the_label_of_a_side_of_ab_is_no_path() -> None:
    """The side was called `main`, which is neither its runner nor its variable."""
    made = both(result(), result(seed=1))
    long = "cudnn MODEL_DIR=/home/user/projects/experiments/2026-11/variant-b/main"
    run_sides = [replace(one, label=label) for one, label in zip(made.sides, ("cudnn", long), strict=True)]
    found = fastrnns_rs.compare(replace(made, sides=run_sides))
    assert re.search("^candidate  cudnn MODEL.*….*/main ", found.render(), re.MULTILINE)
    assert re.match("<Comparison cudnn → cudnn .*….*main: ", repr(found))
    # Paths of files keep the names of the files.
    found = replace(found, candidate=replace(found.candidate, label=long, files=[long]))
    assert "\ncandidate  main " in found.render()


def test_warnings_of_runs_are_counted(tmp_path: Path) -> None:
    notices = [RunWarning(code=f"odd_{number}", message="odd", hint="do it") for number in range(2)]
    first = write(tmp_path / "before it.json", run([result()], warnings=notices))
    second = write(tmp_path / "after.json", run([result(seed=1)], warnings=notices[:1]))
    done = run_cli("compare", first, second)
    assert done.stderr.endswith(
        f"\n2 warnings of the baseline: fastrnns-rs show '{first}'\n"
        f"1 warning of the candidate: fastrnns-rs show {second}\n"
    ) or all(part in done.stderr.replace("\n  ", " ") for part in (f"show '{first}'", f"show {second}"))
    assert "odd" not in done.stdout + done.stderr.replace("odd_", "")
    ab = write(tmp_path / "ab.json", both(result(), result("jit"), warnings=notices))
    said = run_cli("compare", ab).stderr.replace("\n  ", " ")
    assert said == f"\n2 warnings of the run: fastrnns-rs show {ab}\n"
    # The document has them, each with its side.
    plain = run_cli("compare", first, second, "--json").json()
    assert [one["message"] for one in plain["warnings"][:2]] == ["odd", "baseline: odd"]
    assert [len(plain[side]["warnings"]) for side in ("baseline", "candidate")] == [2, 1]


def test_more_than_three_warnings_are_counted(tmp_path: Path) -> None:
    """Each side was interrupted, sides have other numbers of processes, a runner failed, and so on."""
    first = run([result(processes=4), failed("aten"), result("jit", processes=2)], status="interrupted")
    second = run([result(processes=9), result("aten"), result("jit")])
    files = [write(tmp_path / f"{place}.json", one) for place, one in enumerate((first, second))]
    done = run_cli("compare", *files, COLUMNS=200)
    count = len(compared(first, second).warnings)
    assert count > 3
    assert done.stderr.count("\nwarning[") == 3
    left = count - 3
    more = f"{left} more warning{'' if left == 1 else 's'}: fastrnns-rs compare {' '.join(files)} --wide\n"
    assert more in done.stderr
    wide = run_cli("compare", *files, "--wide", COLUMNS=200)
    assert wide.stderr.count("\nwarning[") == count


def test_captures_at_a_prompt() -> None:
    text = (Path(__file__).parents[1] / "data" / "views" / "captures.json").read_text(encoding="utf-8")
    comparison = Comparison.from_dict(json.loads(text))
    first, *table = repr(comparison).splitlines()
    assert first == "<Comparison a → b: GPU time +50 [+40, +60] %>"
    assert table == [line for line in comparison.render().splitlines()[6:] if line]
    assert len(comparison) == len(comparison.kernels)
    assert comparison["gone"] == next(one for one in comparison if one.name == "gone")  # type: ignore[union-attr]
    assert all(width(repr(one)) <= 80 for one in comparison)
