"""Function `ab`: the same as the command, with arguments of one side in dictionaries."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

import fastrnns_rs
from fastrnns_rs import MissingError, UsageError
from fastrnns_rs.api import interleaved
from fastrnns_rs.cli import side_options
from fastrnns_rs.cli.ab import command

#: Flags that the function has under another name, or has no use for: it returns what they would write.
RENAMED = {"only_a": "baseline_options", "a_env": "baseline_env", "a_python": "baseline_python"}
RENAMED |= {"only_b": "candidate_options", "b_env": "candidate_env", "b_python": "candidate_python"}
OF_THE_COMMAND = {
    "runners",
    "runner_file",
    "format_name",
    "as_json",
    "wide",
    "output",
    "run_file",
    "no_history",
    "open_page",
}
ASKED = {"quick": True, "device": "cpu", "history": False, "hidden_size": 8, "processes": 1}


def test_every_flag_is_an_argument() -> None:
    with command.make_context("ab", []) as context:
        params = [one for one in command.params if one.expose_value and not getattr(one, "hidden", False)]
        flags = {str(one.name): context.params[str(one.name)] for one in params if one.name in context.params}
    flags = {name: value for name, value in flags.items() if name not in OF_THE_COMMAND | {"help_all"}}
    shown = {one.name: one.default for one in inspect.signature(fastrnns_rs.ab).parameters.values()}
    assert {RENAMED.get(name, name) for name in flags} == shown.keys() - {"baseline", "candidate", "progress"}
    same = flags.keys() - RENAMED.keys() - {"fail_on"}
    assert {name: flags[name] for name in same} == {name: shown[name] for name in same}


def test_the_arguments_of_a_side_are_those_of_the_command() -> None:
    assert {one.name for one in side_options._SideFlags().params} == interleaved._OF_A_SIDE


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "baseline and candidate are equal. Name a second runner, or add `candidate_options`"),
        ({"baseline": "cudnn", "candidate": "cudnn"}, "baseline and candidate are equal"),
        ({"baseline": "cudnn", "candidate": "pi"}, "unknown runner: 'pi'"),
        ({"candidate": ["cudnn", "py"]}, r"several runners: 'cudnn py' \(candidate\)"),
        ({"baseline": ["cudnn", "py"], "candidate": "jit"}, r"several runners: 'cudnn py' \(baseline\)"),
        ({"baseline": ["cudnn", "py"], "same": True}, r"several runners: 'cudnn py' \(baseline\)"),
        ({"baseline": ["cudnn", "py"]}, "baseline and candidate are equal"),
        ({"baseline": []}, r"several runners: '' \(baseline\)"),
        ({"candidate_options": {"hiddenSize": 4}}, r"'hiddenSize' \(candidate_options\)\. Use 'hidden_size'"),
        ({"baseline_options": {"nothing": 4}}, "Use arguments of sizes, modes, machine and TorchScript"),
        ({"candidate_env": {"A B": "1"}}, "invalid variable: 'A B=1'"),
        ({"candidate_env": ["A=1"]}, r"invalid value: \['A=1'\] \(candidate_env\)"),
        ({"candidate_env": {"A": None}}, r"invalid value: None of variable 'A' \(candidate_env\)\. Use a text"),
        ({"candidate_options": 5}, r'invalid value: 5 \(candidate_options\)\. Use a dict such as \{"seed": 1\}'),
        ({"candidate": "py", "until": "decide"}, r"invalid value: 'decide' \(until\)\. Use 'decided'"),
        ({"candidate": "py", "until": 5}, r"invalid value: 5 \(until\)\. Use decided"),
        ({"same": True, "processes": 3}, "a noise floor needs 40 processes. Use `processes=20` or more"),
        ({"same": True, "candidate": "py"}, "`same` needs equal sides"),
        ({"candidate": "py", "quick": True, "rigorous": True}, "`quick` and `rigorous` exclude each other"),
        ({"candidate": "py", "margin": "5"}, r"margin"),
        ({"candidate": "py", "fail_on": "slower"}, "fail_on"),
        ({"candidate": "py", "processes": 0}, r"out of range: 0 \(processes\)"),
        ({"candidate": "py", "progress": "yes"}, r"invalid value: 'yes' \(progress\)"),
    ],
)
@pytest.mark.usefixtures("_no_torch")
def test_mistakes_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        fastrnns_rs.ab(**given, device="cpu", history=False)
    assert "--" not in str(raised.value)


def test_options_of_a_side_are_recorded_as_words() -> None:
    given = {"fuser": "none", "hidden_size": 64, "amp": True, "allow_tf32": False}
    assert [word for one in given.items() for word in interleaved._words(*one)] == [
        *("--fuser", "none", "--hidden-size", "64", "--amp", "--no-allow-tf32")
    ]


@pytest.mark.long("bench")
def test_the_noise_floor_is_checked_before_the_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    hint = r"noise floor not measured: 'cpu' \(margin\)\. Measure the noise floor: fastrnns_rs\.ab\(same=True\)"
    with pytest.raises(MissingError, match=hint):
        fastrnns_rs.ab("cudnn", "py", margin="noise-floor", **ASKED)


@pytest.mark.long("bench")
def test_ab_compares_and_keeps_the_run(tmp_path: Path) -> None:
    calls: list[tuple[int, int | None, str]] = []
    found = fastrnns_rs.ab(
        "jit",
        candidate_options={"fuser": "none"},
        candidate_env={"OMP_WAIT_POLICY": "ACTIVE"},
        candidate_python=sys.executable,
        progress=lambda *one: calls.append(one),
        **{**ASKED, "history": tmp_path},
    )
    assert [row.phase for row in found] == ["forward", "backward"]
    assert found.candidate.label.startswith("jit --fuser none OMP_WAIT_POLICY=ACTIVE python=")
    assert calls[-1][:2] == (2, 2)
    run = fastrnns_rs.load("@last", history=tmp_path)
    assert [one.side for one in run] == ["a", "b"]
    assert fastrnns_rs.compare(run, history=False).rows == found.rows
