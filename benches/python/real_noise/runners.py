"""A small LSTM, the same once more, and one with more work. Loaded with `--runner-file`."""

from __future__ import annotations

from dataclasses import replace

from fastrnns_rs import ModelDef, Problem, runner
from fastrnns_rs.models.lstm import nn_lstm

#: Time steps more, as a share: each step is the same matrix product, so this is work and no sleep.
EXTRA = 0.03


@runner("lstm", description="nn.LSTM")
def lstm(problem: Problem) -> ModelDef:
    return nn_lstm(problem)


@runner("lstm_again", description="nn.LSTM, to the letter the same")
def lstm_again(problem: Problem) -> ModelDef:
    return nn_lstm(problem)


@runner("lstm_more", description="nn.LSTM with 3 % more time steps")
def lstm_more(problem: Problem) -> ModelDef:
    steps = problem.sizes()[0]
    return nn_lstm(replace(problem, seq_length=steps + round(EXTRA * steps)))
