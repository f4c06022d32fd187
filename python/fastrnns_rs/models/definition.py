"""What a creator returns: a model as the timed loop sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Size, Tensor  # noqa: TC004  # a type checker's concern: nothing reads this class's types

    from fastrnns_rs.problem.problem import Problem

#: From the output of `forward` to the arguments of `backward`.
BackwardSetup = Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True)
class ModelDef:
    """A model, its inputs and how to run it forward and backward.

    Attributes:
        inputs: `forward(*inputs)` is the timed forward phase.
        params: Tensors whose gradients must exist after backward; they are zeroed after each iteration. Any iterable is
            taken, and read once.
        forward: A module or function. By convention it returns (output, states).
        backward_setup: Makes the arguments of `backward` from the output, outside the timed region.
        backward: The timed backward phase. None for a model that has none.
        context: Entered around everything that is run.
    """

    inputs: Sequence[Any]
    params: Iterable[Tensor]
    forward: Callable[..., Any]
    backward_setup: BackwardSetup | None = None
    backward: Callable[..., Any] | None = None
    context: Callable[[], AbstractContextManager[Any]] = nullcontext

    def __post_init__(self) -> None:
        # A generator would be used up by the first iteration, and later ones would zero nothing.
        object.__setattr__(self, "params", list(self.params))


def sequence_model(
    problem: Problem, inputs: Sequence[Any], params: Iterable[Tensor], forward: Callable[..., Any]
) -> ModelDef:
    """A model that returns (output, states) and runs backward from the output."""
    return ModelDef(
        inputs=inputs,
        params=params,
        forward=forward,
        backward_setup=from_sequence(problem.seed),
        backward=backward,
    )


def backward(output: Tensor, gradient: Tensor) -> None:
    """Runs backpropagation from `output`, whose gradient is `gradient`."""
    output.backward(gradient)  # type: ignore[no-untyped-call]


def from_tensor(seed: int) -> BackwardSetup:
    """A set-up for a model whose output is one tensor: a standard normal gradient of its shape.

    The gradient is drawn once for each shape, from a generator of its own: the same for every runner and device, and
    no work between the phases of later iterations.
    """
    drawn: dict[Size, Tensor] = {}

    def setup(output: Tensor) -> tuple[Tensor, Tensor]:
        import torch

        shape = output.shape
        if shape not in drawn:
            drawn[shape] = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(output)
        return output, drawn[shape]

    return setup


def from_sequence(seed: int) -> BackwardSetup:
    """A set-up for a model that returns (output, states): the gradient enters at the output."""
    setup = from_tensor(seed)
    return lambda result: setup(result[0])
