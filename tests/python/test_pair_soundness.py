"""Runs of `ab` whose pairs, sides or turns were made up: comparisons judge them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from run_files import both, exactly

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError

TIMES = [1000, 1010, 1020, 1030]


def ab() -> Any:
    return both(exactly(TIMES), exactly([2 * one for one in TIMES], "jit")).to_dict()


def swap_sides(plain: Any) -> None:
    for row, side in zip(plain["results"], "ba", strict=True):
        row["side"] = side


def pair_anew(plain: Any) -> None:
    for process, index in zip(plain["results"][1]["processes"], (1, 0, 3, 2), strict=True):
        process["index"] = index


def part_all(plain: Any) -> None:
    for process in plain["results"][1]["processes"]:
        process["index"] += 100


def take_turns(plain: Any) -> None:
    plain["results"][0]["processes"][2]["slices"] = [0, 1]


REFUSED: dict[Callable[[Any], None], str] = {
    swap_sides: "results[0].side is 'b', and 'cudnn' is the runner of 'a'",
    pair_anew: "processes of index 0 ran until order 1, and others before them",
    part_all: "processes of index 3 ran until order 3, and others before them",
    take_turns: "results[0].processes[2].slices has 2 turns, and plan.turns is None",
}


@pytest.mark.parametrize("change", REFUSED, ids=lambda one: one.__name__)
def test_a_run_that_contradicts_its_order_is_refused(change: Callable[[Any], None]) -> None:
    """A regression became an improvement, or had no verdict."""
    plain = ab()
    Run.from_dict(copy.deepcopy(plain))
    change(plain)
    with pytest.raises(UsageError) as raised:
        Run.from_dict(plain)
    assert REFUSED[change] in raised.value.message


def test_turns_of_a_live_pair_are_read() -> None:
    plain = ab()
    plain["plan"]["turns"] = 2
    take_turns(plain)
    Run.from_dict(plain)
