"""The page that derives a verdict by hand: every line of it is run."""

from __future__ import annotations

import doctest
import re

import pytest
import scipy.stats
from conftest import ROOT

from fastrnns_rs import stats

PAGE = (ROOT / "docs" / "explanation" / "statistics.md").read_text()


def test_the_verdict_by_hand_is_what_is_printed() -> None:
    blocks = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE))
    test = doctest.DocTestParser().get_doctest(
        blocks, {}, "docs/explanation/statistics.md", "docs/explanation/statistics.md", 0
    )
    assert len(test.examples) > 15
    said: list[str] = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)


def test_the_table_of_students_t_is_right() -> None:
    degrees, high, low = re.search(
        r"for ([\d.]+) degrees of freedom gives ([\d.]+) for 95 % and ([\d.]+) for 90 %", PAGE
    ).groups()
    assert scipy.stats.t.ppf([0.975, 0.95], float(degrees)) == pytest.approx([float(high), float(low)], abs=5e-5)


def test_every_function_is_on_the_page() -> None:
    named = set(re.findall(r"`([a-z_]+)`", PAGE.split("## One verdict")[0]))
    functions = {name for name in stats.__all__ if name[0].islower()}
    assert functions <= named
    assert named - functions <= {"fastrnns_rs.stats", "within_one_process", "threads"}


def test_every_simulation_has_its_table() -> None:
    page = (ROOT / "docs" / "explanation" / "validation.md").read_text()
    places = re.findall(r"<!-- ([a-z -]+) -->\n(.*?)<!-- end -->", page, flags=re.DOTALL)
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "python").glob("test_validation_*.py"))
    simulated = set(re.findall(r'\.publish\("([a-z -]+)"\)', tests))
    # Measured, not simulated: `make noise` writes it.
    assert {name for name, _ in places} == simulated | {"real noise"}
    for name, table in places:
        assert table.count("\n| ") >= 2, name
