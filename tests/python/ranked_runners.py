"""Runners that behave differently at the second rank, where `torchrun` started two. Loaded with `--runner-file`."""

import os
import time
from pathlib import Path

from fastrnns_rs import ModelDef, Problem, runner


def _is_second():
    return os.environ["RANK"] == "1"


def _model(forward):
    import torch

    weight = torch.ones(3, requires_grad=True)
    return ModelDef(inputs=[weight], params=[], forward=forward)


@runner("steady")
def steady(_problem: Problem) -> ModelDef:
    """Notes when each call began and ended. The first call of the second rank takes longer than any other."""
    import torch.distributed as dist

    place = Path(os.environ["RANKED_CALLS"]) / f"{os.environ['RANK']}-{os.getpid()}"
    calls = []
    # A runner may use the group.
    sizes = [None, None]
    dist.all_gather_object(sizes, dist.get_rank())
    assert sizes == [0, 1]

    def forward(weight):
        begun = time.monotonic()
        time.sleep(0.3 if _is_second() and not calls else 0.002)
        calls.append((begun, time.monotonic()))
        if len(calls) == 2:
            place.write_text(repr(calls))
        return weight * 2

    return _model(forward)


@runner("fails_at_one")
def fails_at_one(_problem: Problem) -> ModelDef:
    if _is_second():
        raise RuntimeError("the second rank could not build it")
    return _model(lambda weight: weight * 2)


@runner("dies_at_one")
def dies_at_one(_problem: Problem) -> ModelDef:
    calls = []

    def forward(weight):
        calls.append(1)
        if _is_second() and len(calls) == 3:
            os._exit(3)
        return weight * 2

    return _model(forward)
