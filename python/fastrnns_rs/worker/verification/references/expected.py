"""Expected results of a problem, in float64 on the CPU for any device and dtype."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.worker.verification.tensors import dense

#: Random seed of the numbers that a model draws in each call.
MASKS = 4242


@dataclass(kw_only=True)
class Expected:
    """Expected inputs, results and gradients of a runner's model.

    Attributes:
        result: (output, states), or an output alone.
        start: Part of the result that backward starts from.
        inputs: Inputs that the seed gives.
        parameters: Parameters that the seed gives, by name and in order; `start` was computed from them.
        note: Difference from a measurement, if any.
        adapt: Function that changes the runner's model where it could not be compared otherwise.
        rounded: Same results in the problem's own dtype, for a deep network: the tolerance includes the effect of
            rounding on it.
        mask_seed: Torch's seed before each call.
    """

    result: Any
    start: torch.Tensor
    inputs: list[torch.Tensor]
    parameters: dict[str, torch.Tensor]
    note: str | None = None
    adapt: Callable[[Any], Any] = field(default=lambda model: model)
    rounded: Expected | None = None
    mask_seed: int = MASKS
    _begun: torch.Tensor | None = None
    _found: dict[str, torch.Tensor | None] = field(default_factory=dict)

    @property
    def differentiates(self) -> bool:
        """True if gradients are known."""
        return True

    def own_start(self) -> torch.Tensor | None:
        """Gradient that the reference started from, if it cannot start from another."""
        return None

    def gradients(self, gradient: torch.Tensor | None) -> dict[str, torch.Tensor | None]:
        """Returns the gradient of each parameter, for a backward from `gradient`.

        Raises:
            RunnerError: If there is no gradient to start from, or it has another shape.
        """
        if gradient is None:
            raise RunnerError("backward_setup gave no (output, gradient), so nothing is known of where backward starts")
        if self._begun is not None and torch.equal(self._begun, gradient):
            return self._found
        if gradient.shape != self.start.shape:
            shapes = f"{list(gradient.shape)}, expected {list(self.start.shape)}"
            raise RunnerError(f"backward starts from a gradient of shape {shapes}")
        found = torch.autograd.grad(
            self.start,
            [*self.parameters.values()],
            gradient.to("cpu", self.start.dtype),
            retain_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )
        self._begun, self._found = gradient, dict(zip(self.parameters, found, strict=True))
        return self._found


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the same numbers in float64 on the CPU, without a graph.

    Integers keep their dtype.
    """
    dtype = torch.float64 if tensor.is_floating_point() else tensor.dtype
    return dense(tensor.detach()).to("cpu", dtype, copy=True).contiguous()


def leaves(named: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Returns the same numbers as parameters of a reference."""
    return {name: wide(tensor).requires_grad_() for name, tensor in named.items()}


def wide_module(module: torch.nn.Module) -> torch.nn.Module:
    """Returns a copy of a module with the same numbers."""
    return copy.deepcopy(module).to("cpu", torch.float64)
