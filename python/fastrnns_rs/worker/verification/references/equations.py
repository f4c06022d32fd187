"""Recurrences written step by step in float64.

They share no code with the cells and loops of the runners. Gates of an LSTM have the order input, forget, cell, output;
gates of a GRU have the order reset, update, new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from fastrnns_rs.models.dropout import PROBABILITY
from fastrnns_rs.worker.verification.references.expected import MASKS, Expected, leaves, wide

if TYPE_CHECKING:
    from fastrnns_rs.models.inputs import RnnKind
    from fastrnns_rs.problem.problem import Problem


State: TypeAlias = tuple[torch.Tensor, ...]
#: From x [B, I], the state before and a layer's weights to the state after; its first part is the output.
Step: TypeAlias = Callable[[torch.Tensor, State, Sequence[torch.Tensor]], State]


def over_time(
    x: torch.Tensor,
    states: Sequence[torch.Tensor],
    weights: Sequence[Sequence[torch.Tensor]],
    step: Step,
    *,
    directions: int = 1,
    between: Callable[[torch.Tensor], torch.Tensor] = lambda y: y,
) -> tuple[torch.Tensor, State]:
    """Runs a stack of layers over x [S, B, I].

    Args:
        x: Input.
        states: Initial states of the layers, each [L·D, B, H].
        weights: Weights of each layer and direction.
        step: One step of a layer.
        directions: 2 adds a second layer to each layer, which reads the sequence backwards.
        between: Function applied to the output of a layer before the next layer.

    Returns:
        y [S, B, D·H] and the states, each [L·D, B, H].
    """
    ends: list[State] = []
    for first in range(0, len(weights), directions):
        sides = []
        for index in range(first, first + directions):
            state: State = tuple(one[index] for one in states)
            backwards = index > first
            seen = []
            for moment in reversed(range(len(x))) if backwards else range(len(x)):
                state = step(x[moment], state, weights[index])
                seen.append(state[0])
            sides.append(torch.stack(seen[::-1] if backwards else seen))
            ends.append(state)
        x = torch.cat(sides, dim=-1)
        if first + directions < len(weights):
            x = between(x)
    return x, tuple(torch.stack([end[part] for end in ends]) for part in range(len(states)))


def lstm_step(x: torch.Tensor, state: State, weights: Sequence[torch.Tensor]) -> State:
    """Computes an LSTM step, projected if there is a fifth weight.

    i, f, o = sigmoid(…), g = tanh(…); c' = f∘c + i∘g; h' = o∘tanh(c').
    """
    h, c = state
    w_ih, w_hh, b_ih, b_hh, *projection = weights
    gates = x @ w_ih.T + b_ih + h @ w_hh.T + b_hh
    return _lstm_state(gates, c, projection)


def gru_step(x: torch.Tensor, state: State, weights: Sequence[torch.Tensor]) -> State:
    """Computes a GRU step.

    r, z = sigmoid(…); n = tanh(W x + b + r∘(U h + b)); h' = (1 - z)∘n + z∘h.
    """
    (h,) = state
    w_ih, w_hh, b_ih, b_hh = weights
    from_x, from_h, size = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh, h.shape[1]
    r = 1 / (1 + (-(from_x + from_h)[:, :size]).exp())
    z = 1 / (1 + (-(from_x + from_h)[:, size : 2 * size]).exp())
    n = (from_x[:, 2 * size :] + r * from_h[:, 2 * size :]).tanh()
    return ((1 - z) * n + z * h,)


def rnn_step(act: Callable[[torch.Tensor], torch.Tensor]) -> Step:
    """Computes a step of a plain recurrence: h' = act(W x + b + U h + b)."""

    def step(x: torch.Tensor, state: State, weights: Sequence[torch.Tensor]) -> State:
        w_ih, w_hh, b_ih, b_hh = weights
        return (act(x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh),)

    return step


_STEPS: dict[RnnKind, Step] = {
    "gru": gru_step,
    "rnn_tanh": rnn_step(torch.tanh),
    "rnn_relu": rnn_step(lambda gates: gates.clamp(min=0)),
}


def mi_lstm_step(x: torch.Tensor, state: State, weights: Sequence[torch.Tensor]) -> State:
    """Computes an LSTM step with multiplicative integration.

    Its gates are alpha∘Wx∘Uh + beta_i∘Wx + beta_h∘Uh + b.
    """
    h, c = state
    w_ih, w_hh, alpha, beta_i, beta_h, bias = weights
    from_x, from_h = x @ w_ih.T, h @ w_hh.T
    return _lstm_state(alpha * from_x * from_h + beta_i * from_x + beta_h * from_h + bias, c, [])


def normalised_lstm_step(x: torch.Tensor, state: State, weights: Sequence[torch.Tensor]) -> State:
    """Computes an LSTM step in which Wx, Uh and c' are normalised.

    No other bias is added.
    """
    h, c = state
    w_ih, w_hh, *norms = weights
    gates = _norm(x @ w_ih.T, *norms[:2]) + _norm(h @ w_hh.T, *norms[2:4])
    i, f, g, o = (gates[:, part * h.shape[1] : (part + 1) * h.shape[1]] for part in range(4))
    c = _norm(_sigmoid(f) * c + _sigmoid(i) * g.tanh(), *norms[4:])
    return _sigmoid(o) * c.tanh(), c


def lstm(problem: Problem) -> Expected:
    """Computes an LSTM of any number of layers and directions."""
    from fastrnns_rs.models.inputs import lstm_inputs

    x, hidden, module = lstm_inputs(problem)
    return compute_module(problem, lstm_step, x, hidden, module)


def gru_or_rnn(kind: RnnKind, problem: Problem) -> Expected:
    """Computes a GRU or a plain recurrence (tanh or ReLU) of any size."""
    from fastrnns_rs.models import inputs

    x, hidden, module = inputs.rnn_inputs(problem, kind)
    return compute_module(problem, _STEPS[kind], x, hidden, module)


def mi_lstm(problem: Problem) -> Expected:
    """Computes an LSTM with multiplicative integration."""
    from fastrnns_rs.models import inputs

    x, hidden, layers = inputs.milstm_inputs(problem)
    names = ("weight_ih", "weight_hh", "alpha", "beta_i", "beta_h", "bias")
    return _compute_layers(problem, mi_lstm_step, x, hidden, layers, names)


def layer_normalised(problem: Problem) -> Expected:
    """Computes a layer-normalised LSTM. Weights of its norms are 1, biases 0."""
    from fastrnns_rs.models.inputs import lstm_inputs

    x, hidden, module = lstm_inputs(problem)
    layers: list[list[torch.Tensor]] = []
    for w_ih, w_hh, *_ in module.all_weights:
        gates, size = w_hh.shape
        fills = [fill(width) for width in (gates, gates, size) for fill in (torch.ones, torch.zeros)]
        layers.append([w_ih, w_hh, *fills])
    norms = [f"{of}_norm_{part}" for of in ("input", "hidden", "cell") for part in ("weight", "bias")]
    return _compute_layers(problem, normalised_lstm_step, x, hidden, layers, ("weight_ih", "weight_hh", *norms))


def compute_module(
    problem: Problem,
    step: Step,
    x: Any,
    hidden: torch.Tensor | Sequence[torch.Tensor],
    module: torch.nn.RNNBase,
    between: Callable[[torch.Tensor], torch.Tensor] = lambda y: y,
) -> Expected:
    """Computes a recurrence with the parameters of a torch module, under their names."""
    parameters = leaves(dict(module.named_parameters()))
    counts = [len(layer) for layer in module.all_weights]
    each = iter(parameters.values())
    weights = [[next(each) for _ in range(count)] for count in counts]
    states = [hidden] if isinstance(hidden, torch.Tensor) else [*hidden]
    starts = [wide(one) for one in states]
    y, last = over_time(wide(x), starts, weights, step, directions=problem.directions, between=between)
    result = (y, last[0]) if isinstance(hidden, torch.Tensor) else (y, last)
    return Expected(result=result, start=y, inputs=[wide(x), *starts], parameters=parameters)


def _compute_layers(
    problem: Problem,
    step: Step,
    x: Any,
    hidden: Sequence[torch.Tensor],
    layers: Sequence[Sequence[torch.Tensor]],
    names: Sequence[str],
) -> Expected:
    named: dict[str, torch.Tensor] = {}
    for index, weights in enumerate(layers):
        layer, reverse = divmod(index, problem.directions)
        named |= {
            f"{name}_l{layer}{'_reverse' if reverse else ''}": one for name, one in zip(names, weights, strict=True)
        }
    parameters = leaves(named)
    each = iter(parameters.values())
    numbers = [[next(each) for _ in names] for _ in layers]
    starts = [wide(one) for one in hidden]
    y, last = over_time(wide(x), starts, numbers, step, directions=problem.directions)
    return Expected(result=(y, last), start=y, inputs=[wide(x), *starts], parameters=parameters)


def _lstm_state(gates: torch.Tensor, c: torch.Tensor, projection: Sequence[torch.Tensor]) -> State:
    size = c.shape[1]
    i, f, g, o = (gates[:, part * size : (part + 1) * size] for part in range(4))
    c = _sigmoid(f) * c + _sigmoid(i) * g.tanh()
    h = _sigmoid(o) * c.tanh()
    return (h @ projection[0].T if projection else h), c


def _sigmoid(x: torch.Tensor) -> torch.Tensor:
    return (1 + (x / 2).tanh()) / 2


def _norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(-1, keepdim=True) / x.shape[-1]
    return (x - mean) / (variance + 1e-5).sqrt() * weight + bias


def lstm_with_dropout(problem: Problem) -> Expected:
    """Computes an LSTM with dropout between its layers.

    On a CPU the mask comes from torch's generator and is drawn again from its seed. On CUDA the mask depends on the
    kernel that draws it, so that the model is checked with a dropout probability of 0.
    """
    from fastrnns_rs.models.inputs import lstm_inputs

    x, hidden, module = lstm_inputs(problem)
    on_cpu = problem.device == "cpu"
    dtype = torch.bfloat16 if problem.amp else getattr(torch, problem.dtype)

    def between(y: torch.Tensor) -> torch.Tensor:
        if not (on_cpu and problem.training):
            return y
        return y * wide(torch.dropout(torch.ones(y.shape, dtype=dtype), PROBABILITY, True))  # noqa: FBT003

    torch.manual_seed(MASKS)
    expected = compute_module(problem, lstm_step, x, hidden, module, between)
    if on_cpu or not problem.training:
        return expected
    return replace(
        expected, note="the mask cannot be drawn again on CUDA: checked with dropout 0", adapt=_without_dropout
    )


def _without_dropout(model: Any) -> Any:
    """Returns a model whose dropout is 0, in its module or among its inputs."""
    if isinstance(model.forward, torch.nn.RNNBase):
        model.forward.dropout = 0.0
    return replace(model, inputs=[0.0 if isinstance(one, float) else one for one in model.inputs])
