"""Geometric means of a comparison that its rows do not give are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from run_files import PROBLEM, exactly, run

from fastrnns_rs import Comparison, UsageError, compare

TIMES = ([1_000, 1_010, 1_020, 1_015], [1_100, 1_111, 1_122, 1_110])
MEAN = {"ratio": 1.1, "ratio_ci_low": 1.09, "ratio_ci_high": 1.11, "n": 1}


def without_p_value() -> Comparison:
    """Runs of two processes."""
    return compare(*(run([exactly(times[:2])]) for times in TIMES), history=False)


def of_devices() -> Comparison:
    """One runner on several devices, of which one has two names."""
    names = (("cpu", "cuda", "cuda:1"), ("cpu", "cuda:0", "cuda:1"))
    sides = (
        run([exactly(times, problem=replace(PROBLEM, device=name)) for name in names[place]])
        for place, times in enumerate(TIMES)
    )
    found = compare(*sides, history=False)
    assert found.geometric_mean
    assert found.geometric_mean.n == 3
    return found


def without_1_3(value: Any) -> Any:
    """A part of a document without the keys of 1.3."""
    if isinstance(value, list):
        return [without_1_3(one) for one in value]
    if not is_dataclass(value):
        return value
    return {
        one.name: without_1_3(getattr(value, one.name))
        for one in fields(value)
        if one.metadata.get("since") != "1.3" and not one.name.startswith("_")
    }


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (without_p_value, lambda _: MEAN, "geometric_mean has no rows"),
        (of_devices, lambda mean: {**mean, "ratio_ci_low": mean["ratio"] * 0.999}, "geometric_mean.ratio_ci_low is "),
        (of_devices, lambda mean: {**mean, "n": 1}, "geometric_mean.n is 1, and that of the rows is 3"),
        (of_devices, lambda _: None, "geometric_mean is null, and rows have p-values"),
    ],
)
def test_a_mean_of_other_rows_is_refused(make: Callable[[], Comparison], change: Any, message: str) -> None:
    found = make()
    assert Comparison.from_dict(found.to_dict()) == found
    plain = found.to_dict()
    plain["geometric_mean"] = change(plain["geometric_mean"])
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(plain)
    assert raised.value.message.startswith(message)


def test_the_first_builds_have_a_mean_of_all_rows() -> None:
    """Their documents have no key of 1.3, and ratios without a p-value were part of the mean."""
    plain = without_1_3(without_p_value())
    assert Comparison.from_dict(plain).geometric_mean is None
    plain["geometric_mean"] = MEAN
    assert Comparison.from_dict(plain).geometric_mean
