"""Runners like `sleeping` that first change the worker's own code: each plants a fault that only a device shows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastrnns_rs import ModelDef, Problem, runner

#: The name of each runner.
FAULTS = ("no_synchronisation", "early_reading", "wrong_stream", "kept_gradients", "side_stream")


def _runner(function: Callable[[Problem], ModelDef]) -> Callable[[Problem], ModelDef]:
    decorate = runner(function.__name__, family="lstm", description="a planted fault", devices=("cuda",))
    return decorate(function)


def _sleeping(problem: Problem) -> ModelDef:
    from emulated.device_runners import sleeping

    return sleeping(problem)


@_runner
def no_synchronisation(problem: Problem) -> ModelDef:
    """No iteration waits for the device."""
    from fastrnns_rs.worker.stopwatch import CudaEvents

    def end_iteration(self: Any) -> None:
        self._completed += 1

    CudaEvents.end_iteration = end_iteration  # type: ignore[method-assign]
    return _sleeping(problem)


@_runner
def early_reading(problem: Problem) -> ModelDef:
    """Times are read before the device has passed the events."""
    from fastrnns_rs.worker.stopwatch import CudaEvents

    end_iteration = CudaEvents.end_iteration

    def reads(self: Any) -> None:
        self._completed += 1
        self.durations_ns(2, 3)
        self._completed -= 1
        end_iteration(self)

    CudaEvents.end_iteration = reads  # type: ignore[method-assign]
    return _sleeping(problem)


@_runner
def wrong_stream(problem: Problem) -> ModelDef:
    """Events are recorded on a stream that has no kernels."""
    import torch

    from fastrnns_rs.worker.stopwatch import CudaEvents

    other = torch.cuda.Stream()

    def mark(self: Any) -> None:
        self._host.mark()
        next(self._record)(other)

    CudaEvents.mark = mark  # type: ignore[method-assign]
    return _sleeping(problem)


@_runner
def kept_gradients(problem: Problem) -> ModelDef:
    """Gradients add up from iteration to iteration."""
    from fastrnns_rs.worker.gradients import Gradients

    Gradients.zero = lambda _self: None  # type: ignore[method-assign]
    return _sleeping(problem)


@_runner
def side_stream(problem: Problem) -> ModelDef:
    """Forward works on a stream of its own that nothing joins."""
    import torch

    model = _sleeping(problem)
    other = torch.cuda.Stream()

    def forward(*inputs: Any) -> Any:
        with torch.cuda.stream(other):
            return model.forward(*inputs)

    return replace(model, forward=forward)
