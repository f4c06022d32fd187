"""The runners that `torch.compile` compiles: what they compute, and what a bench of one says. Inductor takes long."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from conftest import TINY, run_cli
from models_under_test import Outcome, run_once

torch = pytest.importorskip("torch")

SIZES = {"seq_length": 3, "input_size": 4, "hidden_size": 8, "mini_batch": 2}
#: With float64 a difference is one of mathematics.
LAYERS = {"compile_scan": 1, "compile_unrolled": 1}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """One process and one folder for all: what they share is compiled once."""
    from torch._inductor.utils import fresh_cache

    with warnings.catch_warnings(), fresh_cache():
        # The compiler's own, which differ from version to version.
        warnings.simplefilter("ignore")
        found = {name: run_once(name, num_layers=LAYERS[name], dtype="float64", **SIZES) for name in LAYERS}
    torch.compiler.reset()
    return found


@pytest.mark.long("models")
@pytest.mark.parametrize("name", LAYERS)
def test_they_compute_what_nn_lstm_computes(outcomes: dict[str, Outcome], name: str) -> None:
    reference = run_once("cudnn", num_layers=LAYERS[name], dtype="float64", **SIZES)
    found = outcomes[name]
    assert found.output.shape == reference.output.shape
    torch.testing.assert_close(found.output, reference.output, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(list(found.states), list(reference.states), rtol=1e-12, atol=1e-12)
    assert len(found.gradients) == len(reference.gradients)
    torch.testing.assert_close(found.gradients, reference.gradients, rtol=1e-11, atol=1e-12)


@pytest.fixture(scope="module")
def run() -> Any:
    few = ["--nloops", "3", "--warmup", "1", "--processes", "1", "--threads", "1", "--device", "cpu", *TINY, "--json"]
    done = run_cli("bench", "--group", "rnns", "--rnns", "compile_cell", *few)
    assert done.status == 0, done.stderr
    return {**done.json(), "stderr": done.stderr}


@pytest.mark.long("inductor")
def test_compiling_ends_before_the_loop_begins(run: Any) -> None:
    (process,) = run["results"][0]["processes"]
    cost = process["compile"]
    assert cost["graph_breaks"] == cost["recompilations"] == 0
    first = process["first_call"]
    assert first["forward_ns"] + first["backward_ns"] < cost["warm_ns"] < cost["cold_ns"]


@pytest.mark.long("inductor")
def test_the_files_of_the_cache_save_most_of_it(run: Any) -> None:
    cost = run["results"][0]["processes"][0]["compile"]
    assert cost["warm_ns"] < cost["cold_ns"] / 2
    assert "compile, cold / warm, s: compile_cell " in run["stderr"]
