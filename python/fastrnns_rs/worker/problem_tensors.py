"""Check that a model has the recorded dtype and device of its problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.worker.verification.tensors import tensors

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem


def check_tensors(model: ModelDef, problem: Problem) -> None:
    """Rejects a model that ignores the dtype or the device of its problem.

    One floating-point tensor of the dtype is enough, because parts of a model may be more exact, or hold integers. The
    check cannot see tensors that a function has besides its inputs and the given parameters.

    Raises:
        RunnerError: If the model has floating-point tensors, none of them with the dtype; or none is on the device.
    """
    forward = model.forward
    own = [*forward.parameters(), *forward.buffers()] if isinstance(forward, torch.nn.Module) else []
    found = [*tensors((*model.inputs, *model.params, *own))]
    dtypes = sorted({str(one.dtype).removeprefix("torch.") for one in found if one.dtype.is_floating_point})
    if dtypes and problem.dtype not in dtypes:
        message = f"inputs and parameters are {', '.join(dtypes)}, not {problem.dtype}"
        raise RunnerError(f"{message}: use problem.dtype in the runner")
    devices, asked = {one.device for one in found}, torch.device(problem.device)
    if devices and not any(_is_same(one, asked) for one in devices):
        message = f"inputs and parameters are on {', '.join(sorted(map(str, devices)))}, not on {asked}"
        raise RunnerError(f"{message}: use problem.device in the runner")


def _is_same(device: torch.device, asked: torch.device) -> bool:
    """Returns True if a tensor's device is the requested one.

    Without an index, this is the current device.
    """
    if device.type != asked.type or device.type != "cuda":
        return device.type == asked.type
    return device.index == (torch.cuda.current_device() if asked.index is None else asked.index)
