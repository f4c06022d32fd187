"""`ab --live`: two live processes that take turns."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest
from commands import run_cli
from conftest import PLANTED, TINY

from fastrnns_rs._core import Process
from fastrnns_rs.cli.ab import command
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Terms
from fastrnns_rs.processes.live_pair import LivePair
from fastrnns_rs.verbs.bench.interleaved import side_checks
from fastrnns_rs.verbs.bench.phase_summary import summary

LIVE = [
    "--runner-file",
    str(PLANTED),
    "--device",
    "cpu",
    "--live",
    "--quick",
    "--processes",
    "1",
    *TINY,
    "--run-file",
    "ab.json",
]


def test_the_help_names_the_default_number_of_processes() -> None:
    def default(name: str) -> int:
        keys = ("quick", "rigorous", "processes", "same", "order_seed", "until", "live", "nloops", "warmup")
        return side_checks.make_effort({**dict.fromkeys(keys), "same": False, "live": False, name: True}).processes or 0

    [text] = [one.help for one in command.params if isinstance(one, click.Option) and one.name == "processes"]
    assert default("rigorous") == default("same")
    assert text == (
        f"Fresh processes per side. [default: {default('none')}; {default('live')} with --live, "
        f"{default('quick')} with --quick, {default('same')} with --rigorous or --same]"
    )


def test_both_sides_of_a_pair_are_measured_in_turns(anywhere: Path) -> None:
    done = run_cli("ab", "sound", "cudnn", *LIVE, cwd=anywhere)
    assert done.status == 0, done.stderr
    run = Run.load(anywhere / "ab.json")
    assert [(one.side, len(one.processes)) for one in run.results] == [("a", 1), ("b", 1)]
    for result in run.results:
        for process in result.processes:
            assert process.status == "ok"
            assert process.steady_from is not None
            assert len(process.forward_ns) - process.steady_from >= 10
            # Between two turns, the time was the other side's.
            assert process.timed_loop_ns is None
            assert len(process.slices or []) >= 10
    # The run and the comparison have the same times: those of turns.
    rows = run_cli("compare", "ab.json", "--json", cwd=anywhere).json()["rows"]
    for side, result in zip(("baseline", "candidate"), run.results, strict=True):
        assert result.forward is not None
        assert rows[0][side]["estimate_ns"] == pytest.approx(result.forward.estimate_ns, rel=1e-12)
        assert result.forward.estimate_ns == result.processes[0].median_ns("forward")
    # Older builds stored the median of all samples, with its interval.
    for row in (plain := run.to_dict())["results"]:
        for phase in ("forward", "backward"):
            samples = [row["processes"][0][f"{phase}_ns"][row["processes"][0]["timed_from"] or 0 :]]
            row[phase] |= {**to_plain(summary([samples])), "host_ns": None, "launch_bound": None}
    assert Run.from_dict(plain).results[0].forward != run.results[0].forward


@pytest.mark.long("bench")
def test_a_side_that_fails_ends_the_other(anywhere: Path) -> None:
    done = run_cli("ab", "sound", "exits", *LIVE, cwd=anywhere)
    assert done.status == 1, done.stderr
    statuses = {one.side: one.status for one in Run.load(anywhere / "ab.json").results}
    assert statuses["b"] == "failed"
    assert "failed" in done.stdout


@pytest.mark.long("bench")
def test_a_side_without_memory_names_the_pair(anywhere: Path) -> None:
    done = run_cli("ab", "sound", "eats_memory", *LIVE, cwd=anywhere)
    assert done.status == 1, done.stderr
    [failed] = [one for one in Run.load(anywhere / "ab.json").results if one.status == "failed"]
    assert failed.reason is not None
    assert "--live needs memory for both sides at once" in failed.reason


@pytest.mark.parametrize("words", [["--nloops=5"], ["--warmup=5"], ["--warmup=0"], ["--same"]])
def test_what_excludes_turns(anywhere: Path, words: list[str]) -> None:
    side = [] if words == ["--same"] else ["--b", "--threads 1"]
    done = run_cli("ab", "cudnn", "--live", *words, *side, "--device", "cpu", cwd=anywhere)
    assert done.status == 2
    assert f"--live and {words[0].partition('=')[0]} exclude each other" in done.stderr


def test_threads_that_spin_while_they_wait_are_refused(anywhere: Path) -> None:
    done = run_cli("ab", "sound", "--b-env", "OMP_WAIT_POLICY=ACTIVE", *LIVE, cwd=anywhere)
    assert done.status == 2
    assert "OMP_WAIT_POLICY=ACTIVE" in done.stderr


_WORKER = """
import json, sys, time
def tell(**message): print(json.dumps(message), flush=True)
sys.stdin.readline()
time.sleep(2)
tell(kind="phase", name="turn")
while sys.stdin.readline() == "turn\\n":
    tell(kind="phase", name="turn")
tell(kind="result", status="ok")
"""


def test_the_time_limit_of_a_side_has_no_time_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first side waits while the second is built."""
    monkeypatch.setattr(
        "fastrnns_rs.processes.listener.Process",
        lambda _command, env: Process([sys.executable, "-S", "-c", _WORKER], env=env),
    )
    pair = LivePair(3, least=1, seconds=60.0, seed=1)
    answers = pair([Start(job={}, terms=Terms(timeout=3.5))] * 2)
    assert [(one.ended, one.reason) for one in answers] == [("answered", None)] * 2
