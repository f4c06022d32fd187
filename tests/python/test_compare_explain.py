"""`--explain`: every number of the derivation, worked out again by scipy from the process medians."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import replace

import pytest
import scipy.stats
from run_files import PROBLEM, exactly, failed, result, run

from fastrnns_rs import UsageError
from fastrnns_rs.documents.run_file import Result
from fastrnns_rs.verbs.compare.explanation import explain
from fastrnns_rs.verbs.compare.run_comparison import judge_sides
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.verdict_steps import digits
from fastrnns_rs.views.comparison import dot_plot

NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def explained(first: list[Result], second: list[Result], name: str, margin: float = 0.01) -> str:
    sides = [side_of_run(run(one), label="x", file="x") for one in (first, second)]
    return explain(judge_sides(*sides, margin=margin), name)


def numbers(text: str, pattern: str) -> list[float]:
    """The numbers that stand where the pattern has #, whatever the lines."""
    found = re.search(re.escape(pattern).replace(r"\#", f"({NUMBER})"), " ".join(text.split()))
    assert found, (pattern, text)
    return [float(one) for one in found.groups()]


@pytest.mark.parametrize(
    ("level", "processes", "word"),
    [
        (1.1e6, (10, 10), "slower by"),
        (0.9e6, (10, 7), "faster by"),
        (1.005e6, (12, 12), "inconclusive,"),
        (1.1e6, (3, 20), "slower by"),
    ],
)
def test_each_number_follows_from_those_before(level: float, processes: tuple[int, int], word: str) -> None:
    first = [result(processes=processes[0]), result("jit")]
    second = [result(seed=1, level_ns=level, processes=processes[1]), result("jit", seed=1)]
    text = explained(first, second, "cudnn/forward")
    assert text.startswith(f"cudnn/forward: {word} ")
    sides = [
        sorted(statistics.median(one.forward_ns[one.steady_from :]) for one in made.processes)
        for made in (first[0], second[0])
    ]
    unit = {"ms": 1e6, "µs": 1e3}[text.split("Process medians, ")[1][:2]]
    shown = [
        [float(one) for one in re.findall(NUMBER, part)]
        for part in re.findall(r"  (?:baseline|candidate) ((?:\s+\d+\.?\d*)+)", text)
    ]
    for values, side in zip(shown, sides, strict=True):
        assert values == pytest.approx([one / unit for one in side], rel=1e-3)
    logs = [[math.log(value) for value in side] for side in sides]
    means, spreads = [statistics.fmean(one) for one in logs], [statistics.stdev(one) for one in logs]
    difference = means[1] - means[0]
    assert numbers(text, "Geometric means: # ")[0] == pytest.approx(math.exp(means[0]) / unit, rel=1e-4)
    assert numbers(text, "Ratio #") == pytest.approx([math.exp(difference)], abs=5e-5)
    shares = [spread**2 / len(one) for spread, one in zip(spreads, logs, strict=True)]
    error = math.sqrt(sum(shares))
    degrees = sum(shares) ** 2 / sum(share**2 / (len(one) - 1) for share, one in zip(shares, logs, strict=True))
    if min(processes) < 5:
        degrees = min(degrees, 2 * (min(processes) - 1))
        assert f"; at most {2 * (min(processes) - 1)} with fewer than 5 per side)" in text
    assert numbers(text, "sqrt(#²/# + #²/#) = #, with # degrees of freedom") == pytest.approx(
        [spreads[0], processes[0], spreads[1], processes[1], error, degrees], rel=5e-3
    )
    for percent, tail in ((95, 0.975), (90, 0.95)):
        quantile = scipy.stats.t.ppf(tail, degrees)
        ends = [math.exp(difference - quantile * error), math.exp(difference + quantile * error)]
        assert numbers(text, f"{percent} %: t = #, # to #") == pytest.approx([quantile, *ends], abs=6e-4)
    assert numbers(text, "lies inside # to #") == pytest.approx([1 / 1.01, 1.01], abs=5e-5)
    p_value = 2 * scipy.stats.t.sf(abs(difference) / error, degrees)
    if word != "inconclusive,":
        assert numbers(text, "p = #, adjusted") == pytest.approx([p_value], rel=5e-3)
    else:
        assert "excludes 1: no, inconclusive." in text
        assert "Still different" not in text


def test_p_values_are_adjusted_as_benjamini_and_hochberg_do() -> None:
    names = [f"r{index}" for index in range(6)]
    first = [result(name, backward=False) for name in names]
    second = [result(name, seed=1, level_ns=1e6 + 2e4 * index, backward=False) for index, name in enumerate(names, 1)]
    texts = [explained(first, second, name) for name in names]
    assert all("among 6 rows (false discovery rate 5 %, Benjamini-Hochberg)?" in text for text in texts)
    found = [numbers(text, "p = #, adjusted p = #, at most 0.05: yes") for text in texts]
    adjusted = scipy.stats.false_discovery_control([p_value for p_value, _ in found])
    assert [one for _, one in found] == pytest.approx([*adjusted], rel=1e-2)


def test_rows_without_a_verdict_say_why() -> None:
    first = [result(processes=2), failed("aten"), result("lone"), exactly([5, 5, 5], "still")]
    second = [result(seed=1), result("aten"), exactly([5, 5, 5], "still")]
    text = explained(first, second, "cudnn/forward")
    assert re.match(r"cudnn/forward: no verdict, \S+ %: fewer than 3 processes\n", text)
    assert text.endswith("2. No interval: fewer than 3 numbers on a side.\n")
    text = explained(first, second, "aten/forward")
    assert text.startswith("aten/forward: no verdict: failed: out of memory (in the baseline)\n")
    assert "\n  baseline   failed: out of memory\n" in text
    assert "\n  candidate  missing\n" in explained(first, second, "lone/forward")
    text = explained(first, second, "still")
    assert "Standard error of log(ratio): 0, because the numbers of each side are equal." in text
    assert "(±1 %): yes.\n" in text
    assert "Different?" not in text


def test_a_runner_stands_for_its_phases_and_a_wrong_name_is_answered() -> None:
    rows = [result(), result("jit", backward=False)]
    text = explained(rows, rows, "cudnn")
    assert re.findall(r"^(\S+): ", text, flags=re.MULTILINE)[:1] == ["cudnn/forward"]
    assert "\n\ncudnn/backward: " in text
    with pytest.raises(UsageError, match="unknown row: 'jit/backwards'") as raised:
        explained(rows, rows, "jit/backwards")
    assert raised.value.correction in {"jit/forward", "cudnn/backward"}
    assert rows[0].problem == PROBLEM


def test_a_row_of_several_problems_is_asked_for_by_its_whole_name() -> None:
    rows = [result(problem=replace(PROBLEM, hidden_size=size), backward=False) for size in (32, 64)]
    text = explained(rows, rows, "cudnn/forward (hidden_size 64)")
    assert re.findall(r"^(cudnn.*): ", text, flags=re.MULTILINE) == ["cudnn/forward (hidden_size 64)"]
    text = explained(rows, rows, "cudnn/forward")
    assert re.findall(r"^(cudnn.*): ", text, flags=re.MULTILINE) == [
        "cudnn/forward (hidden_size 32)",
        "cudnn/forward (hidden_size 64)",
    ]


def test_numbers_keep_three_digits() -> None:
    assert [digits(value) for value in (0.0066322, 0.99999, 12.345, 1234.5, 3e-9, 2e7)] == [
        *("0.00663", "1.00", "12.3", "1234", "3.00e-09", "2.00e+07")
    ]


@pytest.mark.parametrize("values", [(1.0, 1.1), (13.68, 14.49), (0.00012, 0.00019), (5.0, 50000.0), (9.99, 10.01)])
@pytest.mark.parametrize("limit", [40, 60, 80, 200])
def test_a_dot_is_where_its_number_is(values: tuple[float, float], limit: int) -> None:
    first, second, axis = dot_plot.lines([("baseline", values[:1]), ("candidate", values[1:])], "ms", limit)
    assert max(map(len, (first, second, axis))) <= limit
    if limit == 40:
        # Only the last label is sure to fit.
        assert axis.endswith(" ms")
        return
    ends = [axis.index("|"), axis.rindex("|")]
    low, high = (float(re.match(rf"\|({NUMBER})", axis[end:])[1]) for end in ends)  # type: ignore[index]
    for line, value in ((first, values[0]), (second, values[1])):
        expected = ends[0] + (value - low) / (high - low) * (ends[1] - ends[0])
        assert line.rindex("o") == pytest.approx(expected, abs=0.51)


def test_equal_numbers_need_no_plot() -> None:
    assert dot_plot.lines([("baseline", [1.0]), ("candidate", [1.0])], "ms", 80) == []
