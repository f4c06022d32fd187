"""Inputs, states and parameters of the LSTM runners: the same numbers for every runner with the same seed.

They are drawn on the CPU in float32 and then moved, so that a device or a dtype does not change them either. The order
of the draws is that of PyTorch's fastrnns: input, hidden state, cell state, `nn.LSTM`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.problem import Problem


class LstmInputs(NamedTuple):
    """What an LSTM runner starts from.

    Attributes:
        x: [S, B, I], or B sequences of [length, I].
        hidden: (h, c), each [L, B, H].
        module: `nn.LSTM` with the parameters.
    """

    x: torch.Tensor | list[torch.Tensor]
    hidden: tuple[torch.Tensor, torch.Tensor]
    module: torch.nn.LSTM

    def weights(self) -> list[list[torch.Tensor]]:
        """For each layer [w_ih, w_hh, b_ih, b_hh]."""
        return [list(layer) for layer in self.module.all_weights]

    def flat_weights(self) -> list[torch.Tensor]:
        """The same, one layer after the other."""
        return [weight for layer in self.weights() for weight in layer]


def lstm_inputs(problem: Problem, *, dropout: float = 0.0) -> LstmInputs:
    """Inputs with sequences of one length."""
    import torch

    steps, _, features, _, batch = problem.sizes()
    torch.manual_seed(problem.seed)
    x = torch.randn(steps, batch, features).to(problem.device, torch_dtype(problem))
    return _with_states(problem, x, dropout)


def varlen_inputs(problem: Problem) -> LstmInputs:
    """Inputs with sequences of many lengths: from 30 % of `seq_length` to one below it, as 30 to 99 of 100 upstream."""
    import torch

    steps, _, features, _, batch = problem.sizes()
    torch.manual_seed(problem.seed)
    shortest = max(1, steps * 3 // 10)
    lengths = torch.randint(shortest, max(shortest + 1, steps), (batch,)).tolist()
    x = [torch.randn(length, features).to(problem.device, torch_dtype(problem)) for length in lengths]
    return _with_states(problem, x, 0.0)


def torch_dtype(problem: Problem) -> torch.dtype:
    """The dtype of a problem as torch's object."""
    import torch

    dtype: torch.dtype = getattr(torch, problem.dtype)
    return dtype


def _with_states(problem: Problem, x: torch.Tensor | list[torch.Tensor], dropout: float) -> LstmInputs:
    import torch

    _, layers, features, hidden, batch = problem.sizes()
    dtype = torch_dtype(problem)
    h, c = (torch.randn(layers, batch, hidden).to(problem.device, dtype) for _ in range(2))
    module = torch.nn.LSTM(features, hidden, layers, dropout=dropout).to(problem.device, dtype)
    return LstmInputs(x, (h, c), module)
