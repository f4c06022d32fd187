"""Copies of an LSTM, each with one fault that `verify` must find, and one without. Loaded with `--runner-file`."""

import os
from dataclasses import replace

from fastrnns_rs import ModelDef, Problem, runner
from fastrnns_rs.models.definition import backward, from_sequence
from fastrnns_rs.models.inputs import lstm_inputs


def _step(x, h, c, w_ih, w_hh, b_ih, b_hh, order="ifgo"):
    gates = dict(zip(order, (x @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1), strict=True))
    c = gates["f"].sigmoid() * c + gates["i"].sigmoid() * gates["g"].tanh()
    return gates["o"].sigmoid() * c.tanh(), c


def _model(problem: Problem, step=_step, after=lambda result: result) -> ModelDef:
    import torch

    inputs = lstm_inputs(problem)

    def forward(x, hidden, weights):
        h_last, c_last = [], []
        for layer, of_layer in enumerate(weights):
            h, c = hidden[0][layer], hidden[1][layer]
            outputs = []
            for at in x:
                h, c = step(at, h, c, *of_layer)
                outputs.append(h)
            x = torch.stack(outputs)
            h_last.append(h)
            c_last.append(c)
        return after((x, (torch.stack(h_last), torch.stack(c_last))))

    return ModelDef(
        inputs=[inputs.x, inputs.hidden, inputs.weights()],
        params=inputs.flat_weights(),
        forward=forward,
        backward_setup=from_sequence(problem.seed),
        backward=backward,
    )


def _plant(name, step=_step, after=lambda result: result, reference="nn.LSTM"):
    runner(name, reference=reference)(lambda problem: _model(problem, step, after))


def _other_dtype(result):
    return result[0], tuple(one.double() for one in result[1])


def _nan_once(result):
    y = result[0].clone()
    y[2, 1, 3] = float("nan")
    return y, result[1]


_plant("faultless")
# These two name another runner as what they are to equal.
_plant("like_faultless", reference="faultless")
_plant("unlike_faultless", lambda *given: _step(*given, order="figo"), reference="faultless")
_plant("swapped_gates", lambda *given: _step(*given, order="figo"))
_plant("missing_bias", lambda x, h, c, w_ih, w_hh, b_ih, b_hh: _step(x, h, c, w_ih, w_hh, b_ih, b_hh * 0))
# No gradient goes back in time, so that those of the weights are incomplete.
_plant("detached", lambda x, h, c, *weights: _step(x, h.detach(), c, *weights))
# One parameter has no gradient at all.
_plant("unreached", lambda x, h, c, w_ih, w_hh, b_ih, b_hh: _step(x, h, c, w_ih, w_hh, b_ih, b_hh.detach()))
_plant("returns_nan_once", after=_nan_once)
# States without the dimension of layers, of one layer: they would broadcast.
_plant("broadcastable", after=lambda result: (result[0], tuple(one[0] for one in result[1])))
_plant("missing_state", after=lambda result: (result[0], result[1][:1]))
_plant("no_states", after=lambda result: (result[0],))
_plant("extra_output", after=lambda result: (*result, result[0]))
_plant("other_dtype", after=_other_dtype)
_plant("no_reference", reference=None)
_plant("unknown_reference", reference="nn.LSTN")
_plant("dies", after=lambda _result: os._exit(7))
# Right again, after all that went wrong before it.
_plant("last")


@runner("other_order", reference="nn.LSTM")
def other_order(problem: Problem) -> ModelDef:
    model = _model(problem)
    w_ih, w_hh, b_ih, b_hh, *others = model.params
    return replace(model, params=[w_ih, w_hh, b_hh, b_ih, *others])


@runner("other_numbers", reference="nn.LSTM")
def other_numbers(problem: Problem) -> ModelDef:
    return _model(replace(problem, seed=problem.seed + 1))


@runner("fewer_parameters", reference="nn.LSTM")
def fewer_parameters(problem: Problem) -> ModelDef:
    model = _model(problem)
    return replace(model, params=list(model.params)[:-1])


@runner("late", reference="nn.LSTM")
def late(problem: Problem) -> ModelDef:
    """Right at first, and wrong from its third call on, as what is optimised late may be."""
    calls = []

    def after(result):
        calls.append(1)
        return (result[0] * (1 if len(calls) < 3 else 1.01), result[1])

    return _model(problem, after=after)


@runner("overwrites", reference="nn.LSTM")
def overwrites(problem: Problem) -> ModelDef:
    """Changes an input after its last call."""
    model = _model(problem)

    def forward(x, hidden, weights):
        result = model.forward(x, tuple(one.clone() for one in hidden), weights)
        hidden[1].mul_(0)
        return result

    return replace(model, forward=forward)


@runner("says_why", reference="nn.LSTM")
def says_why(problem: Problem) -> ModelDef:
    raise RuntimeError("it was never written")


@runner("changes_torch", reference="nn.LSTM")
def changes_torch(problem: Problem) -> ModelDef:
    """Would make every runner wrong that is checked in its process."""
    import torch

    torch.Tensor.sigmoid = torch.Tensor.tanh
    raise RuntimeError("it changed torch" + 10_000_000 * "!")
