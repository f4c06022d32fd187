"""`torchrun`: two ranks on a CPU, which meet by gloo and write one run file."""

from __future__ import annotations

import ast
import json
import math
import os
import shlex
import socket
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY

from fastrnns_rs.documents.run_file import Run

RUNNERS = Path(__file__).parent / "ranked_runners.py"
NAMES = ("steady", "fails_at_one", "dies_at_one")


def refused() -> str | None:
    """Why processes of this machine cannot meet over its own network, if they cannot."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as error:
        return str(error)
    return None


pytestmark = [
    pytest.mark.long("bench"),
    pytest.mark.skipif(refused() is not None, reason=f"needs the loopback network: {refused()}"),
]


def torchrun(*arguments: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    return subprocess.run(
        [*command, "-m", "fastrnns_rs", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        timeout=600,
        check=False,
    )


@dataclass(frozen=True)
class Ranked:
    """A run of two ranks."""

    done: subprocess.CompletedProcess[str]
    document: dict[str, Any]
    calls: list[tuple[int, list[tuple[float, float]]]]

    @property
    def run(self) -> Run:
        return Run.from_dict(self.document)


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Ranked:
    folder = tmp_path_factory.mktemp("ranks")
    counts = ["--quick", "--processes", "2", "--warmup", "2", "--nloops", "8", "--device", "cpu"]
    done = torchrun(
        *("bench", "--runner-file", RUNNERS, "--group", "rnns", "--rnns", *NAMES, *TINY, *counts),
        *("--run-file", "run.json"),
        cwd=folder,
        RANKED_CALLS=str(folder),
    )
    path = folder / "run.json"
    assert path.exists(), done.stderr
    calls = [(int(one.name.partition("-")[0]), ast.literal_eval(one.read_text())) for one in folder.glob("?-*")]
    return Ranked(done, json.loads(path.read_text()), calls)


def test_rank_0_alone_writes_one_document_and_one_table(ranked: Ranked) -> None:
    assert ranked.done.stdout == ranked.run.render()
    assert "2 ranks" in ranked.done.stdout
    assert ranked.done.stderr.count("run.json") == 1
    # A runner failed: each rank says so by its exit code.
    assert (ranked.done.returncode, ranked.document["status"]) == (1, "failed")


def test_each_process_has_its_rank_and_each_index_both(ranked: Ranked) -> None:
    run = ranked.run
    assert [(one.rank, one.local_rank, one.node, one.device) for one in run.ranks] == [
        (0, 0, 0, "cpu"),
        (1, 1, 0, "cpu"),
    ]
    steady = run["steady"]
    assert [(one.index, one.rank) for one in steady.processes] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert {(one.status, len(one.forward_ns)) for one in steady.processes} == {("ok", 10)}
    orders = [process.order for one in run.results for process in one.processes]
    assert sorted(orders) == list(range(len(orders)))


def test_an_index_is_one_replicate(ranked: Ranked) -> None:
    steady = ranked.run["steady"]
    medians = [statistics.median(one.forward_ns[one.steady_from :]) for one in steady.processes]
    assert steady.forward.n_processes == 2
    assert steady.forward.n_samples == 32
    assert steady.forward.estimate_ns == pytest.approx(math.exp(statistics.fmean(map(math.log, medians))))
    pairs = [math.sqrt(medians[0] * medians[1]), math.sqrt(medians[2] * medians[3])]
    assert steady.forward.ci_low_ns == pytest.approx(min(pairs))
    assert steady.forward.ci_high_ns == pytest.approx(max(pairs))


def test_ranks_begin_together_after_the_first_call_of_each(ranked: Ranked) -> None:
    assert sorted(rank for rank, _ in ranked.calls) == [0, 0, 1, 1]
    slow = sorted(calls for rank, calls in ranked.calls if rank == 1)
    quick = sorted(calls for rank, calls in ranked.calls if rank == 0)
    for (first, _second), (_first, second) in zip(slow, quick, strict=True):
        # The first call of rank 1 was over before rank 0 began its second.
        assert first[1] <= second[0]


def test_a_rank_that_fails_is_named_and_the_other_only_waited(ranked: Ranked) -> None:
    row = ranked.run["fails_at_one"]
    assert (row.status, row.reason) == ("failed", "rank 1: RuntimeError: the second rank could not build it")
    assert [(one.rank, one.status, one.reason) for one in row.processes] == [
        (0, "interrupted", "rank 1 did not come"),
        (1, "failed", "RuntimeError: the second rank could not build it"),
    ]


def test_a_rank_that_dies_in_its_loop_leaves_what_the_other_measured(ranked: Ranked) -> None:
    row = ranked.run["dies_at_one"]
    reason = "the process exited with status 3 before it had a result"
    assert (row.status, row.reason) == ("failed", f"rank 1: {reason}")
    assert [(one.rank, one.status, len(one.forward_ns)) for one in row.processes] == [(0, "ok", 10), (1, "failed", 0)]
    assert row.forward is None


def test_nothing_of_it_is_of_the_name_of_the_machine(ranked: Ranked) -> None:
    # Machines are told apart by number.
    assert f'"{socket.gethostname()}"' not in json.dumps([ranked.document["ranks"], ranked.document["warnings"]])


def test_commands_of_one_torchrun_do_not_meet(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "fastrnns_rs", "bench", "cudnn", *TINY, "--quick", "--processes", "1"]
    words += ["--warmup", "1", "--device", "cpu", "--no-history"]
    commands = [shlex.join([*words, "--nloops", str(number), "--run-file", f"{number}.json"]) for number in (6, 7)]
    (tmp_path / "both.sh").write_text(" && ".join(commands))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "--no-python"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, "sh", "both.sh"], check=True, cwd=tmp_path, env=variables, timeout=600)
    for number in (6, 7):
        run = Run.load(tmp_path / f"{number}.json")
        assert [len(one.forward_ns) for one in run.results[0].processes] == [number + 1] * 2
