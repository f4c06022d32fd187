"""Gradients of parameters: kept from iteration to iteration, and zeroed in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from fastrnns_rs.errors import RunnerError


class Gradients:
    """Gradients of parameters, each in its own memory before the first backward.

    Otherwise a parameter would take the memory that the first backward wrote. That may belong to a CUDA graph: its next
    replay would write there again, and add to the values.

    Args:
        params: Parameters. A parameter that has a gradient keeps it.
    """

    def __init__(self, params: Iterable[torch.Tensor]) -> None:
        self._params = [*params]
        #: Gradients that backward has not reached, by the index of their parameter, and how often each was written.
        self._unreached: dict[int, tuple[torch.Tensor, int]] = {}
        for index, param in enumerate(self._params):
            if param.grad is None and param.requires_grad and param.is_leaf:
                param.grad = torch.zeros_like(param)
                self._unreached[index] = param.grad, _writes(param.grad)

    def zero(self) -> None:
        """Sets every gradient to zero in place, after a backward.

        Raises:
            RunnerError: If a parameter has no gradient, because backward did not reach it.
        """
        if not self._params:
            return
        if self._unreached:
            self._check_reached()
        gradients: Any = [param.grad for param in self._params]
        try:
            torch._foreach_zero_(gradients)
        except TypeError:
            # Checked only on failure, because this runs in every iteration. Torch does not accept None.
            self._refuse([index for index, gradient in enumerate(gradients) if gradient is None])
            raise

    def _check_reached(self) -> None:
        missing = [
            index
            for index, (owned, writes) in self._unreached.items()
            if self._params[index].grad is owned and _writes(owned) == writes
        ]
        self._refuse(missing)
        self._unreached = {}

    def _refuse(self, missing: list[int]) -> None:
        if missing:
            count = f"{len(missing)} of {len(self._params)} parameters have"
            raise RunnerError(f"{count} no gradient after backward, first {missing[0]}") from None


def _writes(tensor: torch.Tensor) -> int:
    """Returns how often a tensor was written in place."""
    return tensor._version  # noqa: SLF001  # torch counts, and has no public name for it
