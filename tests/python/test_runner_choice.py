"""Runners chosen by name: exactly these run."""

from __future__ import annotations

import pytest
from commands import run_cli, run_pretended
from conftest import ROOT

FAST = ("--quick", "--warmup", "1", "--nloops", "2", "--no-history")


def test_bench_times_exactly_the_named_runners() -> None:
    done = run_pretended("bench", *FAST, "py", "cudnn", "--json")
    assert done.status == 0, done.stderr
    assert [row["runner"] for row in done.json()["results"]] == ["py", "cudnn"]


def test_names_win_over_a_configured_group() -> None:
    done = run_pretended("bench", "cudnn", *FAST, "--json", FASTRNNS_BENCH_GROUP="all")
    assert [row["runner"] for row in done.json()["results"]] == ["cudnn"]


def test_verify_and_profile_take_names() -> None:
    done = run_cli("verify", "cudnn", "--json", "--seq-length", "2", "--hidden-size", "4", "--input-size", "4")
    assert [row["runner"] for row in done.json()["results"]] == ["cudnn"]
    dry = run_cli("profile", "py", "--torch", "--dry-run", "--quick", "--device", "cpu", "--json")
    [words] = dry.json()["commands"]
    assert [word for word in words if word.startswith("--runner=")] == ["--runner=py"]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            ["bench", "cudnn", "--group", "rnns"],
            "two choices of runners: 'cudnn' and --group (RUNNER)",
            "Leave out --group: named runners run alone.",
        ),
        (
            ["verify", "cudnn", "--variable-lstms"],
            "two choices of runners: 'cudnn' and --variable-lstms (RUNNER)",
            "Leave out --variable-lstms: named runners run alone.",
        ),
        (
            ["bench", "--quick", "--axis", "hidden-size=8,16", "cudnn", "py"],
            "runner after a list: 'cudnn py' (--axis)",
            "Run: fastrnns-rs bench cudnn py --quick --axis hidden-size=8,16",
        ),
        (
            ["ab", "cudnn", "--fail-on", "regression", "py", "--quick"],
            "runner after a list: 'py' (--fail-on)",
            "Run: fastrnns-rs ab cudnn py --fail-on regression --quick",
        ),
        (
            ["profile", "--activities", "cpu", "jit"],
            "runner after a list: 'jit' (--activities)",
            "Run: fastrnns-rs profile jit --activities cpu",
        ),
        (
            ["report", "--devices", "0", "pyproject.toml"],
            "file after a list: 'pyproject.toml' (--devices)",
            "Run: fastrnns-rs report pyproject.toml --devices 0",
        ),
        (
            ["inductor", "--arch", "sm_80", "pyproject.toml", "-k"],
            "file after a list: 'pyproject.toml' (--arch)",
            "Run: fastrnns-rs inductor pyproject.toml --arch sm_80 -k",
        ),
        (["bench", "--group"], "missing value: --group", "Run: fastrnns-rs list"),
    ],
)
def test_a_choice_that_is_not_clear_is_refused(words: list[str], message: str, hint: str) -> None:
    done = run_cli(*words, cwd=ROOT)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"error: {message}", f"hint: {hint}"]
