"""Differences of a comparison that its environments do not have are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import comparison_documents
import pytest
from run_files import PROBLEM, both, exactly, of_other_session, run

from fastrnns_rs import Comparison, UsageError, compare

TIMES = [1_000, 1_010, 1_020, 1_015]


def found() -> dict[str, Any]:
    """Sides with other versions, seeds and machines."""
    first = run([exactly(TIMES)])
    second = of_other_session(run([exactly(TIMES, problem=replace(PROBLEM, seed=1))]))
    second = replace(second, environment=replace(second.environment, torch_version="9.9"))
    plain = compare(first, second, history=False).to_dict()
    assert {"torch_version", "problem.seed"} <= {one["key"] for one in plain["environment_differences"]}
    return plain


def entry(plain: dict[str, Any], key: str) -> dict[str, Any]:
    """The difference of a key."""
    return next(one for one in plain["environment_differences"] if one["key"] == key)


def listed(key: str, baseline: object, candidate: object) -> Callable[[Any], None]:
    """Adds a difference."""
    one = {"key": key, "baseline": baseline, "candidate": candidate}
    return lambda plain: plain["environment_differences"].append(one)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda plain: plain["environment_differences"].remove(entry(plain, "torch_version")), "torch_version"),
        (lambda plain: entry(plain, "torch_version").update(candidate="2.0"), "torch_version"),
        (lambda plain: plain["environment_differences"].append(entry(plain, "torch_version")), "torch_version"),
        (lambda plain: plain["candidate"]["environment"].update(torch_version="8.8"), "torch_version"),
        (listed("plan.threads", 1, 2), "plan.threads"),
        (listed("x" * 1000, None, None), "xxx"),
    ],
)
def test_differences_that_the_environments_do_not_have_are_refused(change: Callable[[Any], Any], key: str) -> None:
    plain = found()
    Comparison.from_dict(plain)
    change(plain)
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(plain)
    assert raised.value.message.startswith(f"environment_differences are others than those of '{key}")
    assert len(raised.value.message) < 200


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: [plain[side].update(environment={}) for side in ("baseline", "candidate")],
        lambda plain: plain["candidate"].update(environment={}),
        lambda plain: (
            plain["candidate"]["environment"].pop("machine_id", None),
            listed("machine_id", "a", None)(plain),
        ),
    ],
)
def test_documents_of_older_builds_are_read(change: Callable[[Any], Any]) -> None:
    """They have no environments, or list a machine of which one side has no ID."""
    plain = found()
    change(plain)
    assert Comparison.from_dict(plain).environment_differences


def test_names_that_are_not_utf8_are_read() -> None:
    """Documents have them escaped in texts, but not in keys."""
    plain = found()
    plain["candidate"]["environment"]["variables.A\udc80"] = "b\udc80"
    listed("variables.A\\udc80", None, "b\\udc80")(plain)
    assert Comparison.from_dict(plain).environment_differences


def test_exchanged_labels_of_files_are_refused() -> None:
    """The heading named the baseline's file as the candidate's."""
    plain = comparison_documents.of_runs().to_dict()
    first, second = plain["baseline"], plain["candidate"]
    for side, name in ((first, "before.json"), (second, "after.json")):
        side.update(label=name, files=[name])
    Comparison.from_dict(plain)
    # A run that was loaded before its file was replaced.
    Comparison.from_dict({**plain, "baseline": {**first, "label": "after.json", "files": ["run 1"]}})
    first["label"], second["label"] = second["label"], first["label"]
    with pytest.raises(UsageError, match=r"^baseline\.label is that of the files of the candidate, and the reverse$"):
        Comparison.from_dict(plain)


def test_a_value_that_contains_the_option_of_the_other_side_is_read() -> None:
    made = both(exactly(TIMES), exactly([2 * one for one in TIMES]))
    variables = ({"NOTE": "x BAR=2 y"}, {"BAR": "2"})
    sides = [
        replace(side, python=None, variables=one, label=" ".join(["cudnn", *(f"{key}={one[key]}" for key in one)]))
        for side, one in zip(made.sides, variables, strict=True)
    ]
    plain = compare(replace(made, sides=sides)).to_dict()
    assert plain["baseline"]["label"] == "cudnn NOTE=x BAR=2 y"
    Comparison.from_dict(plain)
    plain["baseline"]["label"] += " BAR=2"
    with pytest.raises(UsageError, match="'BAR=2' is of the other side"):
        Comparison.from_dict(plain)
