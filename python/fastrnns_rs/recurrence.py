"""Loops of a cell over time, as plain Python and as TorchScript run them.

Every layer takes x [S, B, I] and (h, c), each [1, B, H], and returns (y [S, B, H], (h, c)). The loops stay in the
subset of Python that TorchScript knows: no closures, no `zip` of lists, annotated empty lists.
"""

import torch
from torch import Tensor

from fastrnns_rs.cells import (
    flat_lstm_cell,
    layer_norm,
    layer_norm_decomposed,
    lstm_cell,
    premul_lstm_cell,
    premul_lstm_cell_no_bias,
)


def lstm_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A layer that multiplies its input step by step."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in x.unbind(0):
        h, c = lstm_cell(step, (h, c), w_ih, w_hh, b_ih, b_hh)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def premul_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A layer that multiplies its input for all steps at once."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in torch.matmul(x, w_ih.t()).unbind(0):
        h, c = premul_lstm_cell(step, (h, c), w_hh, b_ih, b_hh)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def premul_bias_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A layer that multiplies its input and adds the input's bias for all steps at once."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    # Two dimensions and a view: TorchScript differentiates `mm` well, and a batched product with a bias badly.
    gates = torch.mm(x.reshape(-1, x.size(2)), w_ih.t()) + b_ih
    for step in gates.view(x.size(0), x.size(1), -1).unbind(0):
        h, c = premul_lstm_cell_no_bias(step, (h, c), w_hh, b_hh)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def last_state(
    x: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """The state (h, c), each [B, H], after all steps: no tuples taken, no outputs gathered."""
    for step in x.unbind(0):
        h, c = flat_lstm_cell(step, h, c, w_ih, w_hh, b_ih, b_hh)
    return h, c


def multilayer(
    x: Tensor, state: tuple[Tensor, Tensor], weights: list[Tensor], dropout: float
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A stack of layers in one function; `weights` has four a layer, `state` is two of [L, B, H].

    `dropout` is the probability with which an output between two layers becomes zero.
    """
    layers = state[0].size(0)
    h_last: list[Tensor] = []
    c_last: list[Tensor] = []
    y = x
    for layer in range(layers):
        h, c = state[0][layer], state[1][layer]
        w_ih, w_hh = weights[4 * layer], weights[4 * layer + 1]
        b_ih, b_hh = weights[4 * layer + 2], weights[4 * layer + 3]
        outputs: list[Tensor] = []
        for step in y.unbind(0):
            h, c = lstm_cell(step, (h, c), w_ih, w_hh, b_ih, b_hh)
            outputs.append(h)
        y = torch.stack(outputs)
        if dropout > 0.0 and layer + 1 < layers:
            y = torch.dropout(y, dropout, True)  # noqa: FBT003
        h_last.append(h)
        c_last.append(c)
    return y, (torch.stack(h_last), torch.stack(c_last))


def layer_norm_layer(
    x: Tensor,
    state: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    norms: list[Tensor],
    decompose: bool,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A layer whose gates and cell state are normalised; the norms' own biases stand in for the gates'.

    `norms` is weight and bias of the norm of the input's gates [4H], of the hidden state's [4H] and of c [H].
    """
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in x.unbind(0):
        from_input = torch.mm(step, w_ih.t())
        from_hidden = torch.mm(h, w_hh.t())
        if decompose:
            from_input = layer_norm_decomposed(from_input, norms[0], norms[1])
            from_hidden = layer_norm_decomposed(from_hidden, norms[2], norms[3])
        else:
            from_input = layer_norm(from_input, norms[0], norms[1])
            from_hidden = layer_norm(from_hidden, norms[2], norms[3])
        input_gate, forget_gate, cell_gate, output_gate = (from_input + from_hidden).chunk(4, 1)
        c = torch.sigmoid(forget_gate) * c + torch.sigmoid(input_gate) * torch.tanh(cell_gate)
        c = layer_norm_decomposed(c, norms[4], norms[5]) if decompose else layer_norm(c, norms[4], norms[5])
        h = torch.sigmoid(output_gate) * torch.tanh(c)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def varlen_layers(
    sequences: list[Tensor], state: tuple[Tensor, Tensor], weights: list[Tensor]
) -> tuple[list[Tensor], tuple[Tensor, Tensor]]:
    """A stack of layers over sequences of many lengths, one sequence after the other.

    Takes B sequences of [length, I] and two states of [L, B, H]; returns B outputs of [length, H] and the states.
    """
    outputs: list[Tensor] = []
    h_last: list[Tensor] = []
    c_last: list[Tensor] = []
    for index in range(len(sequences)):
        y = sequences[index]
        h_layers: list[Tensor] = []
        c_layers: list[Tensor] = []
        for layer in range(state[0].size(0)):
            h, c = state[0][layer, index].unsqueeze(0), state[1][layer, index].unsqueeze(0)
            w_ih, w_hh = weights[4 * layer], weights[4 * layer + 1]
            b_ih, b_hh = weights[4 * layer + 2], weights[4 * layer + 3]
            steps: list[Tensor] = []
            for step in y.unbind(0):
                h, c = lstm_cell(step.unsqueeze(0), (h, c), w_ih, w_hh, b_ih, b_hh)
                steps.append(h)
            y = torch.cat(steps)
            h_layers.append(h)
            c_layers.append(c)
        outputs.append(y)
        h_last.append(torch.stack(h_layers))
        c_last.append(torch.stack(c_layers))
    return outputs, (torch.cat(h_last, 1), torch.cat(c_last, 1))
