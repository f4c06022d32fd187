"""Mean times of captures, which count every iteration, beside the intervals, which count every capture."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from captured_sides import Told
from kineto_traces import annotation, call, kernel, write

from fastrnns_rs import UsageError, compare
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.verbs.compare.captures import capture_side
from fastrnns_rs.verbs.compare.captures.capture_comparison import CaptureComparison, compare_captures
from fastrnns_rs.verbs.compare.captures.kernel_explanation import explain

#: Numbers of iterations of a side's captures, and the factor of the time of the first one.
Captures = tuple[list[int], float]


def compared(
    monkeypatch: pytest.MonkeyPatch, *sides: tuple[Captures, float], margin: float = 0.01
) -> CaptureComparison:
    """Compares sides of captures; the others of a side take this many milliseconds."""
    dice, known = random.Random(7), {}
    for side, ((counts, factor), mean) in zip("bc", sides, strict=True):
        for place, count in enumerate(counts):
            level = 1e6 * mean * (factor if place == 0 else 1) * dice.lognormvariate(0, 0.005)
            known[f"{side}{place}"] = Told({"f": [round(level)] * count})
    monkeypatch.setattr(capture_side, "opened", lambda path, **_: known[path])
    return compare_captures(*([name for name in known if name.startswith(side)] for side in "bc"), margin=margin)


EVEN: Captures = ([10] * 6, 1.0)
#: The first capture has most iterations, and was measured while the GPU was fast.
UNEVEN: Captures = ([400, *[10] * 5], 0.77)


@pytest.mark.parametrize(
    ("baseline", "candidate", "margin", "by_captures"),
    [
        ((UNEVEN, 1.3), (EVEN, 1.1), 0.01, "faster"),
        ((EVEN, 1.1), (UNEVEN, 1.3), 0.01, "slower"),
        ((([4] * 40, 17.0), 1.0), (EVEN, 1.38), 0.01, "slower"),
        ((([900, *[1] * 30], 0.8), 1.0), (EVEN, 1.0), 0.03, "equivalent"),
        # The interval excludes 1, and is inside of the margin.
        ((([900, *[1] * 30], 0.8), 1.0), (EVEN, 0.97), 0.09, "equivalent"),
    ],
)
def test_a_verdict_that_the_mean_time_contradicts_is_withdrawn(
    baseline: tuple[Captures, float],
    candidate: tuple[Captures, float],
    margin: float,
    by_captures: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An outsider got `+7.1 [-21.1, -0.6] %` with the verdict faster, and no warning."""
    compared_sides = compared(monkeypatch, baseline, candidate, margin=margin)
    found = compared_sides.comparison
    [row], [one] = found.kernels, compared_sides.judged.kernels
    assert one.finding.found is not None
    assert (one.finding.found.verdict, row.verdict) == (by_captures, "inconclusive")
    assert row.ratio is not None
    assert f"{by_captures} by the geometric means of the captures, but the mean time changed × " in row.reason
    # The interval alone gives another verdict.
    assert Comparison.from_dict(found.to_dict()) == found
    [warning] = [each for each in found.warnings if each.code == "mean_outside_interval"]
    assert warning.evidence.startswith(f"device time: × {row.ratio:.3g}, interval ")
    assert warning.evidence.endswith("; and 1 more row")
    assert explain(compared_sides, "f").rstrip().endswith(f"It changed × {row.ratio:.4f}: no, inconclusive.")


def test_a_mean_time_that_agrees_only_has_the_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It changed by another amount, in the same direction."""
    sides = compared(monkeypatch, (UNEVEN, 1.0), (EVEN, 1.2))
    [row] = sides.comparison.kernels
    assert row.ratio is not None
    assert row.ratio_ci_high is not None
    assert row.verdict == "slower"
    assert row.ratio > row.ratio_ci_high
    assert "mean_outside_interval" in [one.code for one in sides.comparison.warnings]
    assert explain(sides, "f").rstrip().endswith(": by another amount.")


def test_captures_of_equal_size_have_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = compared(monkeypatch, (EVEN, 1.0), (EVEN, 1.2))
    assert [one.verdict for one in sides.comparison.kernels] == ["slower"]
    assert sides.comparison.warnings == []
    assert "mean time" not in explain(sides, "f")


def test_a_range_that_no_capture_has_is_named(tmp_path: Path) -> None:
    """`report` says so; here a typo gave verdicts on whole captures, without a word."""
    sides = []
    for side in range(2):
        events = [annotation("step", 0, 90 + side), {**call(start=1), "args": {"correlation": 1}}]
        sides.append(write(tmp_path / f"{side}.json", [*events, kernel("k", 5, 10 + side, correlation=1)]))
    found = compare(*sides, iteration_range="stpe")
    [warning] = [one for one in found.warnings if one.code == "no_iterations"]
    assert (warning.evidence, found.basis) == ('1 range names, nearest: "step"', "total")
    assert "no_iterations" not in [one.code for one in compare(*sides, iteration_range="step").warnings]
    with pytest.raises(UsageError, match=r"^invalid value: '\\ud800' \(iteration_range\)"):
        compare(*sides, iteration_range="\ud800")
