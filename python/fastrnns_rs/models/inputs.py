"""Inputs, states and parameters of recurrent runners.

Every runner of a family has the same numbers for the same seed. They are drawn on the CPU in float32 and then moved, so
that they do not depend on device and dtype. The order of the draws is that of PyTorch's fastrnns: input, hidden state,
cell state, parameters. A model with two directions has D = 2 layers for each layer. States and parameters have the
order of torch's modules: layer by layer, in each forward, then backward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.problem.problem import Problem

State = TypeVar("State")
RnnKind = Literal["gru", "rnn_tanh", "rnn_relu"]


class RecurrentInputs(NamedTuple, Generic[State]):
    """Inputs of a runner whose parameters are those of a torch module.

    Attributes:
        x: [S, B, I], or B sequences of [length, I].
        hidden: h [L D, B, H], or (h, c) for an LSTM; its h is [L D, B, P] with a projection.
        module: `nn.LSTM`, `nn.GRU` or `nn.RNN` with the parameters.
    """

    x: torch.Tensor | list[torch.Tensor]
    hidden: State
    module: torch.nn.RNNBase

    def weights(self) -> list[list[torch.Tensor]]:
        """Returns the weights of each layer and direction.

        They are [w_ih, w_hh, b_ih, b_hh], and w_hr with a projection.
        """
        return [list(layer) for layer in self.module.all_weights]

    def flat_weights(self) -> list[torch.Tensor]:
        """Returns the weights of all layers in one list."""
        return [weight for layer in self.weights() for weight in layer]


LstmInputs: TypeAlias = "RecurrentInputs[tuple[torch.Tensor, torch.Tensor]]"
RnnInputs: TypeAlias = "RecurrentInputs[torch.Tensor]"


class MilstmInputs(NamedTuple):
    """Inputs of an LSTM with multiplicative integration. Torch has no module for it.

    Attributes:
        x: [S, B, I].
        hidden: (h, c), each [L D, B, H].
        layers: For each layer and direction [w_ih, w_hh, alpha, beta_i, beta_h, bias].
    """

    x: torch.Tensor
    hidden: tuple[torch.Tensor, torch.Tensor]
    layers: list[list[torch.Tensor]]

    def weights(self) -> list[list[torch.Tensor]]:
        """Returns the weights of each layer and direction.

        They are w_ih [4H, I], w_hh [4H, H], alpha, beta_i, beta_h and bias, the last four [4H].
        """
        return self.layers

    def flat_weights(self) -> list[torch.Tensor]:
        """Returns the weights of all layers in one list."""
        return [weight for layer in self.layers for weight in layer]


def lstm_inputs(problem: Problem, *, dropout: float = 0.0) -> LstmInputs:
    """Returns the inputs and weights of an LSTM, drawn from the seed of the problem."""
    return _make_lstm_inputs(problem, _sequence(problem), dropout)


def varlen_inputs(problem: Problem) -> LstmInputs:
    """Returns inputs with sequences of many lengths.

    Lengths are from 30 % of `seq_length` to one less than `seq_length`: 30 to 99 for 100, as upstream. They are at
    least 1.
    """
    import torch

    steps, _, features, _, batch = problem.sizes()
    torch.manual_seed(problem.seed)
    shortest = max(1, steps * 3 // 10)
    lengths = torch.randint(shortest, max(shortest + 1, steps), (batch,)).tolist()
    return _make_lstm_inputs(problem, [_normal(problem, length, features) for length in lengths], 0.0)


def rnn_inputs(problem: Problem, kind: RnnKind) -> RnnInputs:
    """Returns inputs of a GRU or of a plain recurrent network."""
    import torch

    x = _sequence(problem)
    _, layers, features, hidden, batch = problem.sizes()
    h = _normal(problem, layers * problem.directions, batch, hidden)
    options: dict[str, Any] = {"bidirectional": problem.directions == 2}  # noqa: PLR2004
    module: torch.nn.RNNBase
    if kind == "gru":
        module = torch.nn.GRU(features, hidden, layers, **options)
    else:
        module = torch.nn.RNN(features, hidden, layers, nonlinearity=kind.removeprefix("rnn_"), **options)
    return RecurrentInputs(x, h, _placed(problem, module))


def milstm_inputs(problem: Problem) -> MilstmInputs:
    """Returns inputs of an LSTM with multiplicative integration.

    Values of alpha are around 1, both betas around 0.5, the bias around 0.
    """
    import torch

    x = _sequence(problem)
    _, layers, features, hidden, batch = problem.sizes()
    rows = layers * problem.directions
    state = (_normal(problem, rows, batch, hidden), _normal(problem, rows, batch, hidden))
    bound = hidden**-0.5

    def parameter(about: float, *shape: int) -> torch.Tensor:
        drawn = about + torch.empty(shape).uniform_(-bound, bound)
        return torch.nn.Parameter(drawn.to(problem.device, torch_dtype(problem)))

    parameters = []
    for row in range(rows):
        width = features if row < problem.directions else hidden * problem.directions
        weights = [parameter(0.0, 4 * hidden, width), parameter(0.0, 4 * hidden, hidden)]
        parameters.append(weights + [parameter(about, 4 * hidden) for about in (1.0, 0.5, 0.5, 0.0)])
    return MilstmInputs(x, state, parameters)


def torch_dtype(problem: Problem) -> torch.dtype:
    """Returns the dtype of a problem as torch's object."""
    import torch

    dtype: torch.dtype = getattr(torch, problem.dtype)
    return dtype


def _make_lstm_inputs(problem: Problem, x: torch.Tensor | list[torch.Tensor], dropout: float) -> LstmInputs:
    import torch

    _, layers, features, hidden, batch = problem.sizes()
    rows, projected = layers * problem.directions, problem.proj_size or 0
    state = (_normal(problem, rows, batch, projected or hidden), _normal(problem, rows, batch, hidden))
    module = torch.nn.LSTM(features, hidden, layers, dropout=dropout, bidirectional=rows > layers, proj_size=projected)
    return RecurrentInputs(x, state, _placed(problem, module))


def _sequence(problem: Problem) -> torch.Tensor:
    """Returns the first draw from a problem's seed: x [S, B, I]."""
    import torch

    steps, _, features, _, batch = problem.sizes()
    torch.manual_seed(problem.seed)
    return _normal(problem, steps, batch, features)


def _normal(problem: Problem, *shape: int) -> torch.Tensor:
    import torch

    return torch.randn(*shape).to(problem.device, torch_dtype(problem))


def _placed(problem: Problem, module: torch.nn.RNNBase) -> torch.nn.RNNBase:
    """Moves a module to the problem's device and dtype, and sets its mode."""
    return module.to(problem.device, torch_dtype(problem)).train(problem.training)
