"""Another runner as the reference: an eager model, or the choice of a plug-in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.worker.timed_loop import build
from fastrnns_rs.worker.verification.references.expected import MASKS, Expected, leaves, wide, wide_module
from fastrnns_rs.worker.verification.tensors import tensors

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Runner


def compute_peer(other: Runner, problem: Problem) -> Expected:
    """Computes the results of another runner.

    A module runs in float64 on the CPU, if the runner supports CPUs. Any other function runs unchanged.
    """
    if "cpu" not in other.devices:
        return _compute_unchanged(build(other.creator, problem), problem)
    module = replace(problem, device="cpu", amp=False, channels_last=None, cudnn_benchmark=False)
    model = build(other.creator, module)
    if isinstance(model.forward, torch.nn.Module) and not isinstance(model.forward, torch.jit.ScriptModule):
        expected = _compute_module(model, torch.float64)
        if problem.image_size is not None and problem.dtype != "float64":
            expected.rounded = _compute_module(model, torch.bfloat16 if problem.amp else getattr(torch, problem.dtype))
        return expected
    return _compute_unchanged(build(other.creator, problem), problem)


def _compute_module(model: ModelDef, dtype: torch.dtype) -> Expected:
    copied = wide_module(model.forward).to(dtype)  # type: ignore[arg-type]  # looked at above
    inputs = _as_dtype(model.inputs, dtype)
    with model.context():
        torch.manual_seed(MASKS)
        result = copied(*inputs)
    return Expected(
        result=result,
        start=next(tensors(result)),
        inputs=[wide(one) for one in tensors(inputs) if not one.requires_grad],
        parameters=dict(copied.named_parameters()),
    )


def _compute_unchanged(model: ModelDef, problem: Problem) -> Expected:
    from fastrnns_rs.worker.torch_settings import problem_settings

    with problem_settings(problem), model.context():
        torch.manual_seed(MASKS)
        result = model.forward(*model.inputs)
        found: list[torch.Tensor | None] = []
        start, gradient = next(tensors(result)), None
        if model.backward is not None:
            arguments = (result,) if model.backward_setup is None else model.backward_setup(result)
            if len(arguments) == 2:  # noqa: PLR2004
                start, gradient = arguments
            model.backward(*arguments)
            found = [param.grad for param in model.params]
    names = [str(index) for index, _ in enumerate(model.params)]
    return _Fixed(
        result=result,
        start=start,
        inputs=[wide(one) for one in tensors(model.inputs) if not one.requires_grad],
        parameters=leaves(dict(zip(names, model.params, strict=True))),
        found=dict(zip(names, found, strict=True)) if found else {},
        begun=gradient,
    )


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


def _as_dtype(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(_as_dtype(one, dtype) for one in value)
    return value
