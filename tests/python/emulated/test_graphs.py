"""CUDA graphs: the runner that has its own, and those of torch.compile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from commands import finished
from emulated_cuda.machine import Machine

from emulated.bench import Measured, bench

TESTS = Path(__file__).parents[2]
#: Replays a graph of each device in one process, on inputs that have changed since its capture.
_TWO_DEVICES = """
import torch
from models_under_test import problem_of
from torch.testing import assert_close
from fastrnns_rs.runners.registry import find

for device in ("cuda:0", "cuda:1"):
    with torch.cuda.device(device):
        graphed, eager = (find(name).creator(problem_of(name, device=device)) for name in ("cudagraph", "cudnn"))
        with torch.no_grad():
            for model in (graphed, eager):
                model.inputs[0].mul_(2)
        found, expected = (model.forward(*model.inputs)[0].detach().cpu() for model in (graphed, eager))
    assert_close(found, expected)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    names = ("cudagraph", "reduced_overhead", "missing_gradient")
    return bench(tmp_path_factory.mktemp("graphs"), *names, status=1)


def test_each_phase_of_cudagraph_is_one_launch(found: Measured) -> None:
    assert found.result("cudagraph")["status"] == "ok"
    log = found.log_of("cudagraph")
    # The last iterations are checked, and have marks of their own behind those of their phases.
    forward = log.of("cudaGraphLaunch")[-2]
    begin = [one for one in log.marks() if one.at_ns < forward.at_ns][-1]
    forward_end, backward_begin, end = [one for one in log.marks() if one.at_ns > forward.at_ns][:3]
    assert [one.function for one in log.between(begin, forward_end) if one.launches] == ["cudaGraphLaunch"]
    assert [one.function for one in log.between(backward_begin, end) if one.launches] == ["cudaGraphLaunch"]
    assert not [one for one in log.between(begin, end) if one.function == "cudaStreamWaitEvent"]


def test_gradients_in_memory_of_their_own_survive_the_replay_of_a_graph(found: Measured) -> None:
    assert found.result("reduced_overhead")["reason"] is None
    assert found.log_of("reduced_overhead").of("cudaGraphLaunch")


def test_a_parameter_that_backward_does_not_reach_is_told(found: Measured) -> None:
    reason = found.result("missing_gradient")["reason"]
    assert reason == "1 of 2 parameters have no gradient after backward, first 1"


@pytest.mark.long("emulated")
def test_cudagraph_runs_without_gradients(tmp_path: Path) -> None:
    inference = bench(tmp_path, "cudagraph", "--mode", "inference")
    assert inference.result("cudagraph")["backward"] is None


@pytest.mark.long("emulated")
def test_graphs_of_two_devices_in_one_process_compute(tmp_path: Path) -> None:
    variables = Machine(devices=2, arithmetic=True).environment(tmp_path)
    path = os.pathsep.join([str(TESTS), str(TESTS / "python"), variables.pop("PYTHONPATH")])
    done = finished([sys.executable, "-c", _TWO_DEVICES], **variables, PYTHONPATH=path)
    assert done.status == 0, done.stderr


def test_a_search_for_torch_does_not_end_arithmetic(tmp_path: Path) -> None:
    code = "import importlib.util, sys; importlib.util.find_spec('torch'); import torch; "
    code += "assert torch.arange(4, device='cuda').sum().item() == 6"
    done = finished([sys.executable, "-c", code], **Machine(arithmetic=True).environment(tmp_path))
    assert done.status == 0, done.stderr
