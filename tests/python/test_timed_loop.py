"""Runners that the timed loop rejects, in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from fastrnns_rs import ModelDef, Problem
from fastrnns_rs.errors import RunnerError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.worker.timed_loop import Measurement, exactly, measure


@pytest.fixture
def threads() -> Iterator[int]:
    """The number of torch's threads, which is the same after the test."""
    found = torch.get_num_threads()
    yield found
    torch.set_num_threads(found)


@pytest.mark.parametrize("place", ["build", "forward"])
def test_a_runner_that_changes_the_threads_is_refused(place: str, threads: int) -> None:
    other = threads + 2

    def creator(_problem: Problem) -> ModelDef:
        def forward(given: torch.Tensor) -> torch.Tensor:
            if place == "forward":
                torch.set_num_threads(other)
            return given + 1

        if place == "build":
            torch.set_num_threads(other)
        return ModelDef(inputs=[torch.ones(3)], params=[], forward=forward, backward_setup=None, backward=None)

    problem = Problem(mini_batch=1, device="cpu", mode="inference")
    message = f"changed the number of torch's threads from {threads} to {other}: set the number before"
    with pytest.raises(RunnerError, match=message):
        measure(creator, problem, JitSettings(), Measurement(3), exactly(3))
