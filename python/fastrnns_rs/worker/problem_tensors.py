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
    devices, asked = sorted({one.device.type for one in found}), torch.device(problem.device).type
    if devices and asked not in devices:
        message = f"inputs and parameters are on {', '.join(devices)}, not on {asked}"
        raise RunnerError(f"{message}: use problem.device in the runner")
