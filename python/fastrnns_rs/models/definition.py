"""Model definition: the result of a creator, as used by the timed loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Size, Tensor  # noqa: TC004  # a type checker's concern: nothing reads this class's types

    from fastrnns_rs.problem.problem import Problem

#: Function from the output of `forward` to the arguments of `backward`.
BackwardSetup = Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True)
class ModelDef:
    """Model, its inputs, and its forward and backward phases.

    >>> import fastrnns_rs, torch
    >>> weight = torch.ones(3, requires_grad=True)
    >>> model = fastrnns_rs.ModelDef(
    ...     inputs=[weight],
    ...     params=[weight],
    ...     forward=lambda w: (w * 2).sum(),
    ...     backward=lambda output: output.backward(),
    ... )
    >>> model.forward(*model.inputs)
    tensor(6., grad_fn=<SumBackward0>)

    Attributes:
        inputs: Arguments of `forward`.
        params: Tensors whose gradients must exist after backward; they are zeroed after each iteration. Any iterable is
            accepted, and read once.
        forward: Module or function: the timed forward phase. By convention it returns (output, states).
        backward_setup: Function from the output to the arguments of `backward`, outside the timed region.
        backward: Timed backward phase; None for a model without backward.
        context: Context manager around all calls.
    """

    inputs: Sequence[Any]
    params: Iterable[Tensor]
    forward: Callable[..., Any]
    backward_setup: BackwardSetup | None = None
    backward: Callable[..., Any] | None = None
    context: Callable[[], AbstractContextManager[Any]] = nullcontext

    def __post_init__(self) -> None:
        # The first iteration would exhaust a generator, and later iterations would zero nothing.
        object.__setattr__(self, "params", list(self.params))


def sequence_model(
    problem: Problem, inputs: Sequence[Any], params: Iterable[Tensor], forward: Callable[..., Any]
) -> ModelDef:
    """Returns a model of (output, states) whose backward begins at the output."""
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
    """Returns the `backward_setup` of a model with one output tensor.

    The gradient is standard normal. It is drawn once for each shape, from its own generator. So it is the same for
    every runner and device, and costs nothing between the phases of later iterations.
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
    """Returns the `backward_setup` of a model that returns (output, states).

    Backward begins at the output, with a gradient drawn from the seed.
    """
    setup = from_tensor(seed)
    return lambda result: setup(result[0])
