"""CUDA graphs as the runner `cudagraph` uses them: a replay computes, from what its inputs hold by then."""

from __future__ import annotations

import pytest
import torch
from models_under_test import problem_of
from torch.testing import assert_close

from fastrnns_rs.runners.registry import find


@pytest.mark.gpu(emulated="quick", arithmetic=True)
def test_a_replay_reads_what_its_inputs_hold() -> None:
    graphed = find("cudagraph").creator(problem_of("cudagraph", device="cuda"))
    eager = find("cudnn").creator(problem_of("cudnn", device="cuda"))
    for _ in range(2):
        found, expected = [], []
        for model, into in ((graphed, found), (eager, expected)):
            x = model.inputs[0]
            with torch.no_grad():
                x.mul_(2)
            for param in model.params:
                param.grad = None
            output, _states = model.forward(*model.inputs)
            model.backward(output, torch.ones_like(output))  # type: ignore[misc]
            into += [output.detach().cpu(), *(one.grad.cpu() for one in model.params)]  # type: ignore[union-attr]
        assert_close(found, expected)
