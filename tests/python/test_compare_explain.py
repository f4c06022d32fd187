"""`--explain`: every number of the derivation, worked out again by scipy from the first ones that it shows."""

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

NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def explained(first: list[Result], second: list[Result], name: str, margin: float = 0.01) -> str:
    sides = [side_of_run(run(one), label="x", file="x") for one in (first, second)]
    return explain(judge_sides(*sides, margin=margin), name)


def numbers(text: str, pattern: str) -> list[float]:
    """The numbers that stand where the pattern has #."""
    found = re.search(re.escape(pattern).replace(r"\#", f"({NUMBER})"), text)
    assert found, pattern
    return [float(one) for one in found.groups()]


@pytest.mark.parametrize(
    ("level", "processes", "word"),
    [
        (1.1e6, (10, 10), "slower"),
        (0.9e6, (10, 7), "faster"),
        (1.005e6, (12, 12), "inconclusive"),
        (1.1e6, (3, 20), "slower"),
    ],
)
def test_each_number_follows_from_those_before(level: float, processes: tuple[int, int], word: str) -> None:
    first = [result(processes=processes[0]), result("jit")]
    second = [result(seed=1, level_ns=level, processes=processes[1]), result("jit", seed=1)]
    text = explained(first, second, "cudnn/forward")
    assert text.startswith(f"cudnn/forward: {word}\n")
    sides = [[float(one) for one in found.split()] for found in re.findall(rf"n = \d+: ((?:{NUMBER} ?)+)", text)]
    for made, shown in zip((first[0], second[0]), sides, strict=True):
        assert shown == [statistics.median(one.forward_ns[one.steady_from :]) for one in made.processes]
    logs = [[math.log(value) for value in side] for side in sides]
    means, spreads = [statistics.fmean(one) for one in logs], [statistics.stdev(one) for one in logs]
    for name, mean, spread in zip(("baseline ", "candidate"), means, spreads, strict=True):
        assert numbers(text, f"{name}  m = #, s = #, and exp(m) = # ns") == pytest.approx(
            [mean, spread, math.exp(mean)], rel=1e-8
        )
    difference = means[1] - means[0]
    assert numbers(text, "means d = #: ratio candidate / baseline exp(d) = #") == pytest.approx(
        [difference, math.exp(difference)], rel=1e-6
    )
    shares = [spread**2 / len(one) for spread, one in zip(spreads, logs, strict=True)]
    error = math.sqrt(sum(shares))
    assert numbers(text, "sqrt(s²/n + s²/n) = #") == pytest.approx([error], rel=1e-8)
    degrees = sum(shares) ** 2 / sum(share**2 / (len(one) - 1) for share, one in zip(shares, logs, strict=True))
    if min(processes) < 5:
        degrees = min(degrees, 2 * (min(processes) - 1))
        assert f"with fewer than 5 processes on a side at most {2 * (min(processes) - 1)}" in text
    assert float(re.findall(rf"Degrees of freedom .*\): ({NUMBER})", text)[0]) == pytest.approx(degrees, rel=1e-8)
    for percent, tail in ((95, 0.975), (90, 0.95)):
        quantile = scipy.stats.t.ppf(tail, degrees)
        ends = [math.exp(difference - quantile * error), math.exp(difference + quantile * error)]
        assert numbers(text, f"{percent}%: t = #, # to #") == pytest.approx([quantile, *ends], rel=1e-6)
    assert numbers(text, "ratios from # to #") == pytest.approx([1 / 1.01, 1.01], rel=1e-8)
    p_value = 2 * scipy.stats.t.sf(abs(difference) / error, degrees)
    assert numbers(text, "no difference: #, ") == pytest.approx([p_value], rel=1e-6)
    assert f"So: {word}." in text


def test_the_place_in_the_table_is_that_of_benjamini_and_hochberg() -> None:
    names = [f"r{index}" for index in range(6)]
    first = [result(name, backward=False) for name in names]
    second = [result(name, seed=1, level_ns=1e6 + 3e3 * index, backward=False) for index, name in enumerate(names)]
    texts = [explained(first, second, name) for name in names]
    p_values = [numbers(text, "no difference: #, ")[0] for text in texts]
    adjusted = scipy.stats.false_discovery_control(p_values)
    for text, p_value, expected in zip(texts, p_values, adjusted, strict=True):
        rank = sorted(p_values).index(p_value) + 1
        assert f"{rank} of 6 in the order of p-values" in text
        assert numbers(text, f"p·6/{rank} = #") == pytest.approx([p_value * 6 / rank], rel=1e-6)
        assert numbers(text, "of later places: #") == pytest.approx([expected], rel=1e-6)
        assert numbers(text, f"0.05·{rank}/6 = #") == pytest.approx([0.05 * rank / 6], rel=1e-6)


def test_rows_without_a_verdict_say_why() -> None:
    first = [result(processes=2), failed("aten"), result("lone"), exactly([5, 5, 5], "still")]
    second = [result(seed=1), result("aten"), exactly([5, 5, 5], "still")]
    text = explained(first, second, "cudnn/forward")
    assert "cudnn/forward: no verdict" in text
    assert "m = 13." in text
    assert "s = " not in text
    assert "So: no verdict. Fewer than 3 processes: no verdict." in text
    text = explained(first, second, "aten/forward")
    assert "baseline   failed: out of memory" in text
    assert "So: no verdict. Failed: out of memory (in the baseline)." in text
    assert "candidate  not there" in explained(first, second, "lone/forward")
    text = explained(first, second, "still")
    assert "No side has any spread" in text
    assert "Yes: equivalent" in text
    assert "stands" not in text


def test_a_runner_stands_for_its_phases_and_a_wrong_name_is_answered() -> None:
    rows = [result(), result("jit", backward=False)]
    text = explained(rows, rows, "cudnn")
    assert re.findall(r"^(\S+): ", text, flags=re.MULTILINE)[:1] == ["cudnn/forward"]
    assert "\n\ncudnn/backward: " in text
    with pytest.raises(UsageError, match="no row is called 'jit/backwards'") as raised:
        explained(rows, rows, "jit/backwards")
    assert raised.value.hint in {"did you mean jit/forward?", "did you mean cudnn/backward?"}
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
