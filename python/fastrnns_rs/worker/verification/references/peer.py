"""Another runner as the reference: an eager model, or the choice of a plug-in."""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.worker.timed_loop import build
from fastrnns_rs.worker.verification.references.expected import MASKS, Expected, leaves, wide
from fastrnns_rs.worker.verification.tensors import tensors

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Runner


def compute_peer(other: Runner, problem: Problem) -> Expected:
    """Computes the results of another runner.

    A module runs in float64 on the CPU, if the runner supports CPUs, the module can run in this dtype, and backward
    starts from (output, gradient). Any other model runs unchanged.
    """
    if "cpu" in other.devices:
        module = replace(problem, device="cpu", amp=False, channels_last=None, cudnn_benchmark=False)
        model = build(other.creator, module)
        expected = None
        # A module may have tensors that keep their dtype, or that cannot be copied, or refuse another dtype.
        with suppress(Exception):
            expected = _compute_module(model, torch.float64)
        if expected is not None:
            if problem.image_size is not None and problem.dtype != "float64":
                dtype = torch.bfloat16 if problem.amp else getattr(torch, problem.dtype)
                expected.rounded = _compute_module(model, dtype)
            return expected
    return _compute_unchanged(build(other.creator, problem), problem)


def _compute_module(model: ModelDef, dtype: torch.dtype) -> Expected | None:
    """Computes the results of a module in `dtype`; None if it must run unchanged."""
    if not isinstance(model.forward, torch.nn.Module) or isinstance(model.forward, torch.jit.ScriptModule):
        return None
    # Copied at once: a parameter of the module may be among the inputs too.
    module, inputs, params = copy.deepcopy((model.forward, [*model.inputs], model.params))
    module.to("cpu", dtype)
    for one in tensors((inputs, params)):
        if one.is_floating_point():
            one.data = one.data.to("cpu", dtype)
    with model.context():
        torch.manual_seed(MASKS)
        result = module(*inputs)
        arguments = _begin_backward(model, result)
    if model.backward is not None and not _is_convention(arguments):
        return None
    names = {id(one): name for name, one in module.named_parameters()}
    return Expected(
        result=result,
        start=next(tensors(arguments)),
        inputs=_inputs(model),
        parameters={names.pop(id(one), str(index)): one for index, one in enumerate(params)},
    )


def _compute_unchanged(model: ModelDef, problem: Problem) -> Expected:
    from fastrnns_rs.worker.torch_settings import problem_settings

    with problem_settings(problem), model.context():
        torch.manual_seed(MASKS)
        result = model.forward(*model.inputs)
        found: list[torch.Tensor | None] = []
        start, gradient = next(tensors(result)), None
        if model.backward is not None:
            arguments = _begin_backward(model, result)
            if len(arguments) == 2:  # noqa: PLR2004
                start, gradient = arguments
            model.backward(*arguments)
            found = [param.grad for param in model.params]
    names = [str(index) for index, _ in enumerate(model.params)]
    return _Fixed(
        result=result,
        start=start,
        inputs=_inputs(model),
        parameters=leaves(dict(zip(names, model.params, strict=True))),
        found=dict(zip(names, found, strict=True)) if found else {},
        begun=gradient,
    )


def _inputs(model: ModelDef) -> list[torch.Tensor]:
    return [wide(one) for one in tensors(model.inputs) if not one.requires_grad]


def _begin_backward(model: ModelDef, result: Any) -> tuple[Any, ...]:
    return (result,) if model.backward is None or model.backward_setup is None else model.backward_setup(result)


def _is_convention(arguments: Any) -> bool:
    """Returns True for the arguments (output, gradient) of backward."""
    whole = all(isinstance(one, torch.Tensor) and one.is_floating_point() for one in arguments)
    return whole and len(arguments) == 2  # noqa: PLR2004


class _Fixed(Expected):
    """Results that were differentiated once, and cannot be differentiated again."""

    def __init__(self, *, found: dict[str, torch.Tensor | None], begun: Any, **base_fields: Any) -> None:
        super().__init__(**base_fields, _found=found, _begun=begun)

    @property
    def differentiates(self) -> bool:
        """True if gradients are known."""
        return bool(self._found)

    def own_start(self) -> torch.Tensor | None:
        """Gradient that the reference started from."""
        return self._begun

    def gradients(self, gradient: torch.Tensor | None) -> dict[str, torch.Tensor | None]:
        """Returns the gradients of the one backward that was run.

        The backward of the runner must start from the same gradient, in the dtype of the runner's own output.
        """
        from fastrnns_rs.errors import RunnerError

        known = isinstance(gradient, torch.Tensor) and isinstance(self._begun, torch.Tensor)
        if known and not torch.equal(gradient, self._begun.to(gradient)):  # type: ignore[arg-type,union-attr]
            raise RunnerError("its backward starts from another gradient than its reference's")
        return self._found
