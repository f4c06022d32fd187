"""`compare`: what differs between the environments of two sides."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from run_files import CARD, ENVIRONMENT, SESSION, result, run, write

import fastrnns_rs
from fastrnns_rs import compare
from fastrnns_rs.verbs.compare import environment_keys
from fastrnns_rs.verbs.compare.environment_keys import differences, merged


def codes(comparison: fastrnns_rs.Comparison) -> set[str]:
    return {one.code for one in comparison.warnings}


def test_what_differs_in_the_environments_is_shown_but_for_what_always_does() -> None:
    environment = replace(
        ENVIRONMENT,
        torch_version="2.16.0",
        load_average_1m=3.0,
        gpus=[CARD],
        variables={"OMP_NUM_THREADS": "1"},
        cpu_affinity=[1],
        git=replace(ENVIRONMENT.git, dirty=True),
    )
    first = run([result()], environment=replace(ENVIRONMENT, gpus=[replace(CARD, temperature_c=70.0, name="older")]))
    second = run([result()], environment=environment, plan=replace(run([]).plan, threads=1, order_seed=99))
    found = compare(first, second)
    assert {one.key: (one.baseline, one.candidate) for one in found.environment_differences} == {
        "torch_version": ("2.15.0", "2.16.0"),
        "cpu_affinity": ("0 1", "1"),
        "gpus[0].name": ("older", "a card"),
        "git.dirty": (False, True),
        "plan.threads": (None, 1),
        "variables.OMP_NUM_THREADS": (None, "1"),
    }
    assert "other_machine" in codes(found)
    assert compare(first, first).environment_differences == []
    # The name of the GPU shows that one side has one. The other side's list is empty.
    found = compare(run([result()]), run([result(seed=1)], environment=replace(ENVIRONMENT, gpus=[CARD])))
    assert {one.baseline for one in found.environment_differences} == {None}
    assert "gpus" not in {one.key for one in found.environment_differences}


def test_two_machines_of_one_model_are_told() -> None:
    """Their names are equal, and their speeds are not."""
    sides = []
    for seed, machine in enumerate("aba"):
        session = replace(SESSION, session_id=f"5e5510{seed}", machine_id=machine)
        made = result(seed=seed)
        made = replace(made, processes=[replace(one, session=session.session_id) for one in made.processes])
        sides.append(run([made], sessions=[session]))
    found = compare(sides[0], sides[1])
    assert [one.key for one in found.environment_differences] == ["machine_id"]
    assert [one.evidence for one in found.warnings if one.code == "other_machine"] == ["machine_id: a and b"]
    assert "other_machine" not in codes(compare(sides[0], sides[2]))


def test_a_machine_that_an_older_build_did_not_record_is_no_other_one(tmp_path: Path) -> None:
    names = [None, "a", "a"]
    sides = [run([result(seed=seed)], sessions=[replace(SESSION, machine_id=one)]) for seed, one in enumerate(names)]
    files = [write(tmp_path / f"{place}.json", side) for place, side in enumerate(sides)]
    for baseline in ([files[0]], files[:2]):
        found = compare(baseline, files[2])
        assert not found.environment_differences
        assert not {"other_machine", "pooled_files_differ"} & codes(found)


def test_values_of_foreign_environments_fit_a_cell() -> None:
    found = differences({"a": {"b": [1]}, "c": math.inf, "d": 1}, {"a": {}, "c": 1.5, "d": 1})
    assert [(one.key, one.baseline, one.candidate) for one in found] == [("a", '{"b": [1]}', "{}"), ("c", "inf", 1.5)]
    assert merged([{"a": 1, "b": None}, {"a": 2, "b": None}]) == ({"a": "1 | 2", "b": None}, ["a"])


def test_each_value_of_pooled_environments_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred files with keys of their own took many seconds: each key was looked up in each file."""
    read = []
    monkeypatch.setattr(environment_keys, "plain", lambda value: read.append(value) or value)
    found, differing = merged([{f"key{file}_{key}": key for key in range(20)} for file in range(30)])
    assert len(read) == len(found) == len(differing) == 600
    assert found["key7_3"] == "3 | None"
