"""Several processes of a runner, from the command line to the run file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import command_with_facts, run_with_facts
from conftest import PLANTED, TINY, run_cli

import fastrnns_rs
from fastrnns_rs.documents.run_file import Run

SOUND = ["bench", "--group", "rnns", "--rnns", "sound", "--runner-file", str(PLANTED), "--device", "cpu", *TINY]
EXACT = ["--nloops", "12", "--warmup", "2"]


@pytest.mark.long("bench")
def test_three_processes_give_an_interval_and_say_what_ended_them(anywhere: Path) -> None:
    done = run_cli(*SOUND, *EXACT, "--processes", "3", "--order-seed", "7", "--output", "run.json", cwd=anywhere)
    assert done.status == 0, done.stderr
    run = Run.load("run.json")
    result = run["sound"]
    assert (run.plan.order_seed, run.plan.processes, run.plan.stopped_by) == (7, 3, "count")
    assert result.forward.ci_method == "t_log_process_medians"
    assert (result.forward.n_processes, result.forward.n_samples) == (3, 36)
    assert len({one.first_call.forward_ns for one in result.processes}) == 3
    assert all(len(one.forward_ns) == 14 and one.steady_from == 2 for one in result.processes)


def test_warmup_is_detected_and_classified_where_it_is_not_given(anywhere: Path) -> None:
    done = run_with_facts(*SOUND, "--quick", "--processes", "1", "--json", cwd=anywhere)
    document = done.json()
    (process,) = document["results"][0]["processes"]
    assert document["plan"]["warmup"] == {"mode": "detect", "iterations": None}
    assert document["plan"]["stop"]["rule"] == "time"
    assert process["warmup_class"] in {"flat", "warmup", "slowdown", "no_steady_state"}
    assert 1 <= process["steady_from"] < len(process["forward_ns"])
    assert document["results"][0]["warmup_class"] == process["warmup_class"]
    assert document["results"][0]["forward"]["n_samples"] == len(process["forward_ns"]) - process["timed_from"]


@pytest.mark.long("bench")
@pytest.mark.parametrize(
    ("rule", "parameters"),
    [
        ("count:7", {"nloops": 7}),
        ("time:400ms", {"seconds": 0.4, "process_seconds": 0.2, "least_iterations": 10, "most_iterations": 50000}),
    ],
)
def test_rules_of_a_process(rule: str, parameters: dict[str, float], anywhere: Path) -> None:
    stopped_by = rule.partition(":")[0]
    done = run_with_facts(*SOUND, "--stop", rule, "--processes", "2", "--json", cwd=anywhere)
    document = done.json()
    assert document["plan"]["stopped_by"] == stopped_by
    assert document["plan"]["stop"] == {"rule": stopped_by, "parameters": parameters}
    if stopped_by == "count":
        assert document["results"][0]["forward"]["n_samples"] == 14
    assert document["results"][0]["forward"]["ci_method"] == "range"


@pytest.mark.long("bench")
def test_precision_goes_on_until_its_limit_and_says_so(anywhere: Path) -> None:
    """No machine measures to a millionth: the limit ends it, after the five processes that there are at least."""
    done = run_with_facts(*SOUND, *EXACT, "--stop", "precision:0.0001%:1s", "--run-file", "run.json", cwd=anywhere)
    run = Run.load("run.json")
    assert done.status == 0, done.stderr
    assert (run.plan.stopped_by, len(run["sound"].processes)) == ("time", 5)
    assert run.plan.precision > 1e-6
    shown = " ".join(run_cli("show", "run.json", "--wide").stdout.split())
    assert "stopped by time: the time limit came before every interval was narrow enough; widest" in shown
    found = re.search(r"; widest 95 % CI ±([0-9.]+) %", shown)
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * run.plan.precision, rel=0.05)


@pytest.mark.usefixtures("_no_torch")
def test_workers_use_the_cpus_and_threads_that_were_asked_for(anywhere: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    run = fastrnns_rs.bench("cudnn", quick=True, device="cpu", processes=1, affinity=str(cpu), threads=1)
    assert (run.environment.cpu_affinity, run.environment.num_threads) == ([cpu], 1)
    assert (run.plan.affinity, run.plan.threads) == ([cpu], 1)


def test_threads_are_those_of_the_run_whatever_the_file_of_a_runner_sets_as_it_is_loaded(anywhere: Path) -> None:
    """A run records the number before it loads the file."""
    Path("own.py").write_text(
        "import fastrnns_rs, torch\n"
        "before = torch.get_num_threads()\n"
        "torch.set_num_threads(before + 2)\n"
        "@fastrnns_rs.runner('own')\n"
        "def own(problem):\n"
        "    raise ValueError(f'{torch.get_num_threads() - before} more')\n"
    )
    done = run_with_facts(
        "bench", "own", "--runner-file", "own.py", "--device", "cpu", "--processes", "1", cwd=anywhere
    )
    assert "ValueError: 0 more" in done.stdout


def test_a_file_that_there_is_not_cannot_be_resumed(anywhere: Path) -> None:
    done = run_with_facts(*SOUND, "--resume", "nothing.json", cwd=anywhere)
    assert done.status == 2, done.stderr
    assert "'nothing.json' (--resume)" in done.stderr


@pytest.mark.long("kills")
def test_an_interrupted_run_goes_on_from_its_file_alone(anywhere: Path) -> None:
    words = [*SOUND[:4], "sound", "prints", *SOUND[5:], *EXACT, "--processes", "3", "--output", "run.json"]
    command = command_with_facts(*words)
    worker = subprocess.Popen(command, cwd=anywhere, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        measured = Run.load("run.json").results if Path("run.json").exists() else []
        if sum(len(one.processes) for one in measured) >= 2:
            break
        time.sleep(0.05)
    worker.send_signal(signal.SIGINT)
    assert worker.wait(timeout=60) == 130
    before = Run.load("run.json")
    assert before.status == "interrupted"
    refused = run_with_facts(*words, "--seed", "5", "--resume", "run.json", cwd=anywhere)
    assert refused.status == 2
    assert "plan.runners[0].problem.seed was 0 and is 5 now" in refused.stderr
    done = run_with_facts("bench", "--resume", "run.json", *SOUND[5:7], "--format", "csv", cwd=anywhere)
    assert done.status == 0, done.stderr
    after = Run.load("run.json")
    assert (after.status, after.run_id, after.plan.order_seed) == ("complete", before.run_id, before.plan.order_seed)
    kept = {(one.order, tuple(one.forward_ns)) for result in before.results for one in result.processes}
    assert kept <= {(one.order, tuple(one.forward_ns)) for result in after.results for one in result.processes}
    assert all(result.forward.n_processes == 3 for result in after.results)
    again = run_with_facts("bench", "--resume", "run.json", cwd=anywhere)
    assert again.status == 2
    assert "a run with status 'complete'" in again.stderr
