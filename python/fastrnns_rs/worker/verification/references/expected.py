"""What a reference says of a problem: numbers in float64 on the CPU, whatever the problem's device and dtype."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from fastrnns_rs.errors import RunnerError

#: A seed like any other, for what a model draws in each call.
MASKS = 4242


@dataclass(kw_only=True)
class Expected:
    """What a runner's model must be, return and differentiate to.

    Attributes:
        result: (output, states), or an output alone.
        start: The part of it that backward starts from.
        inputs: The inputs that the seed gives.
        parameters: The parameters that it gives, by name and in order; `start` was computed from them.
        note: What is not as in a measurement, if anything.
        adapt: Changes the runner's model where it could not be compared as it is.
        rounded: The same in the problem's own dtype, of a deep network: what rounding does to it is allowed on top.
        seed_of_masks: torch's seed before each call.
    """

    result: Any
    start: torch.Tensor
    inputs: list[torch.Tensor]
    parameters: dict[str, torch.Tensor]
    note: str | None = None
    adapt: Callable[[Any], Any] = field(default=lambda model: model)
    rounded: Expected | None = None
    seed_of_masks: int = MASKS
    _begun: torch.Tensor | None = None
    _found: dict[str, torch.Tensor | None] = field(default_factory=dict)

    @property
    def differentiates(self) -> bool:
        """Whether it tells gradients."""
        return True

    def own_start(self) -> torch.Tensor | None:
        """The gradient that it has started from, where it cannot start from another."""
        return None

    def gradients(self, gradient: torch.Tensor | None) -> dict[str, torch.Tensor | None]:
        """The gradient of each parameter, of a backward that starts from `gradient`.

        Raises:
            RunnerError: There is no gradient to start from, or it is of another shape.
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
    """The same numbers in float64 on the CPU, apart from any graph."""
    return tensor.detach().to("cpu", torch.float64, copy=True).contiguous()


def leaves(named: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same numbers as parameters of a reference."""
    return {name: wide(tensor).requires_grad_() for name, tensor in named.items()}


def wide_module(module: torch.nn.Module) -> torch.nn.Module:
    """A copy of a module with the same numbers."""
    return copy.deepcopy(module).to("cpu", torch.float64)
