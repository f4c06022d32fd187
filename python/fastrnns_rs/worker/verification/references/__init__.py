"""References of runners, by the name in `@runner(reference=…)`.

A reference is a function of this package, or another runner.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.errors import RunnerError, UsageError, closest
from fastrnns_rs.runners.runner import EAGER

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Runner
    from fastrnns_rs.worker.verification.references.expected import Expected

#: Submodule and function that compute each reference, and arguments of the function before the problem.
KNOWN: dict[str, tuple[str, ...]] = {
    "nn.LSTM": ("modules", "lstm"),
    "last state of nn.LSTM": ("modules", "last_state"),
    "nn.LSTM, last c layer-normalised": ("modules", "lower_bound"),
    "nn.LSTM per sequence": ("modules", "one_by_one"),
    "nn.LSTM per sequence, padded": ("modules", "padded"),
    "nn.GRU": ("modules", "gru_or_rnn", "gru"),
    "nn.RNN (tanh)": ("modules", "gru_or_rnn", "rnn_tanh"),
    "nn.RNN (relu)": ("modules", "gru_or_rnn", "rnn_relu"),
    "LSTM equations": ("equations", "lstm"),
    "GRU equations": ("equations", "gru_or_rnn", "gru"),
    "RNN equations (tanh)": ("equations", "gru_or_rnn", "rnn_tanh"),
    "RNN equations (relu)": ("equations", "gru_or_rnn", "rnn_relu"),
    "MI-LSTM equations": ("equations", "mi_lstm"),
    "layer-normalised LSTM equations": ("equations", "layer_normalised"),
    "LSTM under the same dropout mask": ("equations", "lstm_with_dropout"),
    "ResNet equations": ("images", "logits"),
}


def find_reference(runner: Runner) -> Callable[[Problem], Expected]:
    """Returns the function that computes a runner's reference.

    Raises:
        RunnerError: If no reference and no runner has this name.
    """
    from fastrnns_rs.runners import registry

    name = str(runner.reference_name)
    if not name:
        hint = f"Name the runner NAME_{runner.name}, or use the name of its reference."
        raise RunnerError(
            f"no reference: {EAGER!r} is the part of the name before its last '_'", hint, where="reference"
        )
    if name in KNOWN:
        module, function, *given = KNOWN[name]
        found: Callable[..., Expected] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
        # Only this reference depends on the name of the runner.
        return partial(found, *([runner.name] if module == "images" else given))
    try:
        other = registry.find(name)
    except UsageError:
        meant = closest(name, [*KNOWN, EAGER, *registry.all_runners()])
        hint = "Use the name of a runner: fastrnns-rs list" if meant is None else f"Use {meant!r}."
        raise RunnerError(f"unknown reference: {name!r}", hint, where="reference") from None
    _check_ends([runner.name], other)
    from fastrnns_rs.worker.verification.references import peer

    return partial(peer.compute_peer, other)


def _check_ends(way: list[str], other: Runner) -> None:
    """Rejects references that form a cycle: no result would be checked.

    Raises:
        RunnerError: If the references form a cycle.
    """
    from fastrnns_rs.runners import registry

    way = [*way, other.name]
    if other.name in way[:-1]:
        raise RunnerError(f"reference cycle: {' → '.join(way)}", "Use a reference outside the cycle.")
    name = other.reference_name
    if name is None or name in KNOWN:
        return
    # Plug-ins are loaded only for a name that nothing else has.
    if registry.is_known(name) or name in registry.all_runners():
        _check_ends(way, registry.find(name))
