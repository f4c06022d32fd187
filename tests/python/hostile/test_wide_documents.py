"""Documents with many rows are read in a time that grows as they do, and no faster."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from conftest import ROOT
from document_readers import bounded
from run_files import exactly, run

from fastrnns_rs import compare
from fastrnns_rs.documents.run_file import Result, Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.plots import run_times
from fastrnns_rs.views.plots.sweep_plot import time_rows

#: So many that a quadratic reader takes minutes, and a linear one a second.
CELLS, RESULTS, AXES = 12_000, 5_000, 3_000


@pytest.mark.long("mutants")
def test_a_sweep_of_many_points_is_shown() -> None:
    plain: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "documents" / "run_8_fe90074.json").read_text())
    (cell, *_), (growth, *_) = plain["sweep"]["cells"], plain["sweep"]["growth"]
    # Without results, nothing says which cells there are.
    plain["results"] = []
    values = range(1, CELLS + 1)
    plain["sweep"] = {
        "axes": [{"name": "hidden-size", "values": [*values]}, {"name": "mini-batch", "values": [*values]}],
        "cells": [{**cell, "point": {"hidden-size": value, "mini-batch": value}} for value in values],
        "growth": [{**growth, "axis": "hidden-size", "at": {"mini-batch": value}} for value in values],
    }
    with bounded():
        found = Run.from_dict(plain)
        assert len(found.render("table")) > 40 * CELLS
        assert len(found.render("markdown")) > 40 * CELLS
        assert len(time_rows(found)) == 2 * CELLS


@pytest.mark.long("mutants")
def test_growth_along_many_axes_is_checked() -> None:
    plain: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "documents" / "run_8_fe90074.json").read_text())
    (cell, *_), (growth, *_), (result, *_) = plain["sweep"]["cells"], plain["sweep"]["growth"], plain["results"]
    points = [{f"axis-{number}": value for number in range(AXES)} for value in range(2)]
    plain["results"] = [result | {"point": point} for point in points]
    plain["sweep"]["cells"] = [cell | {"point": point} for point in points]
    plain["sweep"]["growth"] = [growth | {"axis": name, "at": {}, "exponent": None} for name in points[0]]
    # A quadratic reader would also need much memory.
    with bounded(5):
        assert Run.from_dict(plain).sweep is not None
        plain["sweep"]["growth"][-1]["exponent"] = 1.0
        with pytest.raises(
            UsageError, match=rf"^sweep\.growth\[{AXES - 1}\]\.exponent is 1, and the results have none$"
        ):
            Run.from_dict(plain)


@pytest.mark.long("mutants")
def test_results_in_another_order_find_their_partners() -> None:
    sizes = range(1, RESULTS + 1)
    rows = [_of_size(size) for size in sizes]
    with bounded():
        found = compare(run(rows), run(reversed(rows)))
    assert [one.problem.hidden_size for one in found.rows if one.problem] == [*sizes]
    assert {one.ratio for one in found.rows} == {1.0}


class _Family(str):
    """Name of a family that counts its comparisons."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Family.compared += 1
        return super().__eq__(other)


def test_families_are_not_compared_with_each_other() -> None:
    made = run([replace(exactly([1_000_000], f"r{number}"), group=_Family(f"g{number}")) for number in range(100)])
    assert [one.runner for one in run_times.measured(made)] == [f"r{number}" for number in range(100)]
    assert [*json.loads(made.render("oss"))][:4] == ["g0", "g0-backward", "g1", "g1-backward"]
    assert made.render("pep").count('"metric": "g1-r1"') == 3
    # A dictionary compares names of equal hashes only; each name with each other was 10,000 for each format.
    assert _Family.compared < 5_000


def _of_size(size: int) -> Result:
    made = exactly([100])
    return replace(made, problem=replace(made.problem, hidden_size=size))
