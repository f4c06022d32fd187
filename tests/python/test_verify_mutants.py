"""Planted faults: `verify` finds each and names what is wrong; a runner that ends the process costs its own row."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, run_cli
from parts import few

MUTANTS = Path(__file__).parent / "planted_mutants.py"
RIGHT = ("faultless", "like_faultless", "last")
#: For each mutant what fails first, a word of what is said of it, and a check that must be right all the same.
CAUGHT = {
    "swapped_gates": ("output", "expected", "input[0]"),
    "unlike_faultless": ("output", "expected", "input[0]"),
    "missing_bias": ("output", "expected", "parameter:bias_hh_l0"),
    "returns_nan_once": ("output", "nan at [2, 1, 3]", "state[0]"),
    "broadcastable": ("state[0]", "its shape is [3, 8], expected [1, 3, 8]", "output"),
    "missing_state": ("state[1]", "it is missing", "state[0]"),
    "no_states": ("state[0]", "it is missing", "output"),
    "extra_output": ("result[2]", "nothing is expected here", "output"),
    "detached": ("gradient:weight_ih_l0", "expected", "output"),
    "unreached": ("gradient:bias_hh_l0", "it is missing", "gradient:bias_ih_l0"),
    "other_order": ("parameter:bias_ih_l0", "expected", "output"),
    "other_numbers": ("input[0]", "expected", None),
    "fewer_parameters": ("parameter:bias_hh_l0", "it is missing", "output"),
    "late": ("output", "call 3", "state[0]"),
    "overwrites": ("input[2]", "expected 0", "input[0]"),
    "other_dtype": ("state[0]", "its dtype is float64, expected float32", "output"),
}
FAILED = {
    "unknown_reference": "'nn.LSTN' (reference). Use 'nn.LSTM'.",
    "no_reference": "it names no reference",
    "dies": "the process exited with status 7",
    "says_why": "build: RuntimeError: it was never written",
    "changes_torch": "it changed torch",
}


#: These are checked with every change. Each takes a process that imports torch.
QUICK = (
    "swapped_gates",
    "returns_nan_once",
    "detached",
    "late",
    "dies",
    "changes_torch",
)


class Checked:
    """Mutants between runners that are right, checked by one command."""

    def __init__(self, *names: str) -> None:
        self.names = [*RIGHT[:2], *names, RIGHT[2]]
        # One layer: its state is the one that would broadcast.
        flags = ["--numLayers", "1", "--device", "cpu", "--json"]
        self.done = run_cli("verify", "--runner-file", MUTANTS, *flags, "--rnns", *self.names)
        self.document: Any = self.done.json()

    def row(self, name: str) -> Any:
        return next(row for row in self.document["results"] if row["runner"] == name)


@pytest.fixture(scope="module")
def quick() -> Checked:
    return Checked(*QUICK)


@pytest.fixture(scope="module")
def others() -> Checked:
    return Checked(*(name for name in (*CAUGHT, *FAILED) if name not in QUICK))


@pytest.fixture
def checked(name: str, request: pytest.FixtureRequest) -> Checked:
    """The command that checked the mutant `name`."""
    found: Checked = request.getfixturevalue("quick" if name in QUICK else "others")
    return found


def mutants(names: Iterable[str]) -> list[Any]:
    return few([name for name in names if name in QUICK], names, "mutants")


@pytest.mark.parametrize("which", few(["quick"], ["quick", "others"], "mutants"))
def test_the_whole_is_not_ok(which: str, request: pytest.FixtureRequest) -> None:
    checked = request.getfixturevalue(which)
    assert checked.done.status == 1
    assert checked.document["ok"] is False
    schema = json.loads((ROOT / "docs" / "schemas" / "verification.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(checked.document)
    assert [row["runner"] for row in checked.document["results"]] == checked.names


@pytest.mark.parametrize("which", few(["quick"], ["quick", "others"], "mutants"))
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes_among_what_is_wrong(name: str, which: str, request: pytest.FixtureRequest) -> None:
    row = request.getfixturevalue(which).row(name)
    assert row["status"] == "ok", row["reason"]
    assert len(row["checks"]) == 14
    assert all(check["ok"] for check in row["checks"])


@pytest.mark.parametrize("name", mutants(CAUGHT))
def test_a_mutant_is_caught_and_what_is_wrong_is_named(name: str, checked: Checked) -> None:
    first, words, right = CAUGHT[name]
    row = checked.row(name)
    checks = {check["name"]: check["ok"] for check in row["checks"]}
    assert row["status"] == "failed"
    assert checks[first] is False
    assert row["reason"].startswith(f"{first}: ") or f" {first}: " in row["reason"], row["reason"]
    assert words in row["reason"]
    assert right is None or checks[right]
    assert f"error: {name}: {row['reason']}" in checked.done.stderr


@pytest.mark.parametrize("name", mutants(FAILED))
def test_a_runner_that_ends_the_process_costs_its_own_row(name: str, checked: Checked) -> None:
    row = checked.row(name)
    assert row["status"] == "failed"
    assert FAILED[name] in row["reason"]
    # A message may be of any length.
    assert len(row["reason"]) < 500
