"""Axes, filters and orders as they are written, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from run_files import PROBLEM, failed, result

from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.sweep.axes import parse_axes, points
from fastrnns_rs.problem.sweep.conditions import MEASURED, make_row, ordered, parse_conditions


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("hidden-size=128,256,512", "hidden_size", (128, 256, 512)),
        ("hiddenSize=8", "hidden_size", (8,)),
        ("hidden_size=pow2:6:10", "hidden_size", (64, 128, 256, 512, 1024)),
        ("seqLength=16:64:16", "seq_length", (16, 32, 48, 64)),
        ("seq-length=1:10:4", "seq_length", (1, 5, 9)),
        ("mini-batch=1, pow2:1:2 ,10:12:2", "mini_batch", (1, 2, 4, 10, 12)),
        ("dtype=float64,float32", "dtype", ("float64", "float32")),
        ("mode=train,inference", "mode", ("train", "inference")),
        ("amp=on,off", "amp", (True, False)),
        ("proj-size=4,8", "proj_size", (4, 8)),
    ],
)
def test_axes_are_read(text: str, name: str, values: tuple[Any, ...]) -> None:
    (axis,) = parse_axes([text])
    assert (axis.name, axis.values) == (name, values)
    assert parse_axes({name: list(values)}) == (axis,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("hiden-size=1", "'hiden-size' .axes."),
        ("threads=1,2", "'threads' .axes."),
        ("hidden-size", "'hidden-size' .axes."),
        ("", "'' .axes."),
        ("=1", "'=1' .axes."),
        ("hidden-size=", "hidden-size .axes."),
        ("hidden-size=1,,2", "hidden-size .axes."),
        ("hidden-size=1,1", "1 .axes."),
        ("hidden-size=4,pow2:1:3", "4 .axes."),
        (["hidden-size=1", "hiddenSize=2"], "hidden-size .axes."),
        ("hidden-size=1:9:0", "'1:9:0' .axes."),
        ("hidden-size=1:9:-1", "'1:9:-1' .axes."),
        ("hidden-size=9:1:1", "'9:1:1' .axes."),
        ("hidden-size=pow2:9:1", "'pow2:9:1' .axes."),
        ("hidden-size=0", "0 .axes."),
        ("hidden-size=1e3", "'1e3' .axes."),
        ("hidden-size=nan", "'nan' .axes."),
        ("hidden-size=pow2:6:99", "2147483648 .axes."),
        ("hidden-size=1:1000000000000:1", "1000000000000, and a sweep supports 1000 .axes."),
        ("hidden-size=1:9999999999999999999:1", "9999999999999999999, and a sweep supports 1000 .axes."),
        ("hidden-size=" + "9" * 30, "'999999999999999999999999999999' .axes."),
        (["hidden-size=1:100:1", "mini-batch=1:100:1"], r"100 . 100 = 10000, and a sweep supports 1000 .axes."),
        ("dtype=float23", "'float23' .axes."),
        ("amp=maybe", "'maybe' .axes."),
        (5, "5 .axes."),
        ([5], "5 .axes."),
        ({"hidden_size": []}, "hidden-size .axes."),
        ({"hidden_size": [True]}, "True .axes."),
        ({"hidden_size": [float("nan")]}, "nan .axes."),
        ({"hidden_size": None}, "None .axes."),
        ({5: [1]}, "5 .axes."),
    ],
)
def test_other_axes_are_refused(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_axes(given)


def test_points_are_the_product_and_the_last_axis_changes_first() -> None:
    assert points(parse_axes(["hidden-size=1,2", "dtype=float32,float64"])) == [
        {"hidden_size": 1, "dtype": "float32"},
        {"hidden_size": 1, "dtype": "float64"},
        {"hidden_size": 2, "dtype": "float32"},
        {"hidden_size": 2, "dtype": "float64"},
    ]
    assert points(()) == [{}]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("hidden-size>=64", True),
        ("hiddenSize > 64", False),
        ("hidden_size<65", True),
        ("hidden-size=064", True),
        ("hidden-size!=64", False),
        ("runner~jit", True),
        ("runner~jit_p*", True),
        ("runner~p*", False),
        ("runner=jit", False),
        ("dtype!=float64", True),
        ("amp=false", True),
        ("amp=on", False),
        ("image-size>=1", False),
        ("image-size!=1", True),
        ("image-size=1", False),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    (condition,) = parse_conditions(text)
    assert condition.holds(make_row("jit_premul", "lstm", PROBLEM)) is holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' .filter."),
        ("runner", "'runner' has no operator"),
        ("runner=", "'runner=' has no value .filter."),
        ("runer=x", "'runer' .filter."),
        ("phase=forward", "'phase' .filter."),
        ("status=ok", "'status' .filter."),
        ("runner>=x", "is not a number"),
        ("hidden-size>=big", "'hidden-size>=big' needs an integer .filter."),
        ("hidden-size=nan", "'hidden-size=nan' needs an integer .filter."),
        ("mode<=1", "'mode<=1' orders mode, which is not a number .filter."),
        (5, "5 .filter."),
    ],
)
def test_other_conditions_are_refused(text: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_conditions([text])


def test_a_condition_of_many_spaces_is_read_once() -> None:
    """The time grew with the square of their number."""
    spaces = " " * 1_000_000
    (condition,) = parse_conditions(f"{spaces}runner{spaces}={spaces}a{spaces}b{spaces}")
    assert condition.value == f"a{spaces}b"


def test_a_run_file_has_a_status_to_filter_by() -> None:
    (condition,) = parse_conditions("status=failed", MEASURED)
    assert condition.holds({"status": "failed"})


def test_rows_are_sorted_and_those_without_a_value_come_last() -> None:
    rows = [result("b"), failed("c"), result("a"), result("b", group="x")]
    assert [one.runner for one in ordered(rows, "name")] == ["a", "b", "b", "c"]
    assert [one.group for one in ordered(rows, "-runner")] == ["lstm", "lstm", "x", "lstm"]
    assert [one.runner for one in ordered(rows, "forward")] == ["b", "c", "a", "b"]
    with pytest.raises(UsageError, match=r"'forwrd' .sort."):
        ordered(rows, "forwrd")
    with pytest.raises(UsageError, match="'-' .sort."):
        ordered(rows, "-")
