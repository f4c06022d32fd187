"""The main job as a person types it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import TINY, run_cli
from models_under_test import OURS
from parts import few

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.runners.registry import find

#: A runner of each family. Each takes a process that imports torch.
FAMILIES = ("cudnn", "vl_py", "gru_cudnn", "rnn_tanh_cudnn", "milstm_py", "resnet18")


def test_every_family_has_a_runner_here() -> None:
    assert {find(name).family for name in OURS} == {find(name).family for name in FAMILIES}


@pytest.mark.parametrize("names", few(["cudnn resnet18"], ["cudnn resnet18", " ".join(FAMILIES)], "bench"))
def test_a_bench_with_real_workers(names: str, anywhere: Path) -> None:
    runners = names.split()
    done = run_cli("bench", "--quick", "--device", "cpu", "--rnns", *runners, "--group", "rnns", "--json", *TINY)
    assert done.status == 0, done.stderr
    run = Run.from_dict(done.json())
    assert [(one.runner, one.status) for one in run.results] == [(name, "ok") for name in runners]
    assert [one.group for one in run.results] == [find(name).family for name in runners]
    for result in run.results:
        (process,) = result.processes
        assert min(process.forward_ns) > 0
        assert len(process.backward_ns) == len(process.forward_ns) > process.steady_from
        assert result.forward.median_ns <= max(process.forward_ns)


@pytest.mark.long("bench")
@pytest.mark.alone
def test_the_default_run_on_a_cpu_with_one_process(anywhere: Path) -> None:
    begin = time.monotonic()
    output = anywhere / "run.json"
    flags = ["--group", "rnns", "cnns", "--variable-lstms", "--device", "cpu", "--processes", "1"]
    done = run_cli("bench", *flags, "--output", output)
    spent = time.monotonic() - begin
    assert done.status == 0, done.stderr
    run = Run.load(output)
    assert (run.status, run.plan.preset) == ("complete", "cpu")
    assert len(run.results) == 15
    for result in run.results:
        (process,) = result.processes
        warmup = process.steady_from
        explained = sum(process.forward_ns[warmup:]) + sum(process.backward_ns[warmup:])
        assert result.status == "ok"
        # Of the rest most is what the machine did meanwhile.
        assert explained / process.timed_loop_ns >= 0.5, result.runner
        # One process with few iterations has no interval.
        assert min(process.forward_ns) <= result.forward.estimate_ns <= max(process.forward_ns)
    # Two or three minutes are usual; a machine that does something else meanwhile may take longer.
    assert spent < 600


@pytest.mark.gpu
@pytest.mark.long("bench")
@pytest.mark.alone
def test_the_default_run_on_cuda(anywhere: Path) -> None:
    output = anywhere / "run.json"
    # compile_unrolled may take longer to compile than a user would wait.
    flags = ["--group", "all", "--device", "cuda", "--nloops", "20", "--processes", "1", "--compile-timeout", "1800"]
    done = run_cli("bench", *flags, "--output", output)
    assert done.status == 0, done.stderr
    run = Run.load(output)
    assert run.plan.preset == "upstream"
    assert {result.timing_mode for result in run.results} == {"cuda_events"}
    for result in run.results:
        (process,) = result.processes
        timed = process.forward_ns[process.steady_from :] + (process.backward_ns or [])[process.steady_from :]
        assert result.status == "ok"
        assert sum(timed) / process.timed_loop_ns >= 0.8, result.runner
