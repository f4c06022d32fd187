"""The timed loop: one iteration after the other, each edge of a phase marked, nothing else inside."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, Protocol

import torch

from fastrnns_rs._core import Recorder, clock_resolution_ns
from fastrnns_rs.errors import RunnerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastrnns_rs.models.definition import ModelDef

#: Forward begins, forward ends, backward begins, backward ends.
FORWARD, BACKWARD = (0, 1), (2, 3)
#: What CUDA's documentation promises of an event's time stamp, about half a microsecond.
CUDA_EVENT_RESOLUTION_NS = 500


class Stopwatch(Protocol):
    """What the loop marks edges on. Any thread may read the iterations that are complete."""

    timing_mode: str
    resolution_ns: int

    @property
    def mark(self) -> Callable[[], None]:
        """Notes that an edge is passed."""

    @property
    def settle(self) -> Callable[[], None]:
        """Ends an iteration: waits for what still runs."""

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Nanoseconds between two edges of each complete iteration."""

    def elapsed_ns(self, first_iteration: int) -> int:
        """Nanoseconds from the first edge of an iteration to the last edge of the last complete one."""


class CpuWallClock:
    """Wall time on the CPU, by the extension's recorder."""

    timing_mode = "cpu_wall"

    def __init__(self, iterations: int, edges: int) -> None:
        self._recorder = Recorder(iterations, edges)
        self.resolution_ns = clock_resolution_ns()
        self.mark = self._recorder.mark
        self.durations_ns = self._recorder.durations_ns
        self.elapsed_ns = self._recorder.elapsed_ns

    @staticmethod
    def settle() -> None:
        """Nothing runs on when a call on the CPU has returned."""

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""
        return self._recorder.iterations


class CudaEvents:
    """Time on the device, by CUDA events that are made beforehand and read after the loop."""

    timing_mode = "cuda_events"
    resolution_ns = CUDA_EVENT_RESOLUTION_NS

    def __init__(self, iterations: int, edges: int, device: torch.device) -> None:
        self._edges = edges
        self._stream = torch.cuda.current_stream(device)
        events = (torch.cuda.Event(enable_timing=True) for _ in range(iterations * edges))  # type: ignore[no-untyped-call]
        self._events = list(events)
        for event in self._events:
            # An event comes into being when it is first recorded: not inside the loop.
            event.record(self._stream)
        self._stream.synchronize()
        self._record = iter([event.record for event in self._events])
        self._settled = 0

    def mark(self) -> None:
        """Has the stream pass an event."""
        next(self._record)(self._stream)

    def settle(self) -> None:
        """Waits until the device has done the iteration: the one synchronisation that it has."""
        self._stream.synchronize()
        self._settled += 1

    @property
    def iterations(self) -> int:
        """How many iterations are complete."""
        return self._settled

    def durations_ns(self, from_edge: int, to_edge: int) -> list[int]:
        """Nanoseconds between two edges of each complete iteration."""
        edges = self._edges
        return [self._between(i * edges + from_edge, i * edges + to_edge) for i in range(self._settled)]

    def elapsed_ns(self, first_iteration: int) -> int:
        """Nanoseconds from the first edge of an iteration to the last edge of the last complete one."""
        return self._between(first_iteration * self._edges, self._settled * self._edges - 1)

    def _between(self, begin: int, end: int) -> int:
        milliseconds: float = self._events[begin].elapsed_time(self._events[end])
        return round(milliseconds * 1e6)


def stopwatch(device: str, iterations: int, *, has_backward: bool) -> Stopwatch:
    """The stopwatch for a device, with room for `iterations`."""
    edges = 4 if has_backward else 2
    where = torch.device(device)
    return CudaEvents(iterations, edges, where) if where.type == "cuda" else CpuWallClock(iterations, edges)


def run_loop(model: ModelDef, watch: Stopwatch, iterations: int) -> None:
    """Runs the model `iterations` times, forward and backward, and marks the edges on `watch`.

    The outputs of the first and of the last iteration are checked to be finite.

    Raises:
        RunnerError: A parameter has no gradient after backward, or an output holds NaN or an infinity.
    """
    iterate = _iteration(model, watch)
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    try:
        check_finite(iterate())
        for _ in range(iterations - 2):
            iterate()
        if iterations > 1:
            check_finite(iterate())
    finally:
        if collecting:
            gc.enable()


def _iteration(model: ModelDef, watch: Stopwatch) -> Callable[[], Any]:
    """One iteration as a function, so that what it made is released before the next one begins."""
    forward, inputs, params = model.forward, tuple(model.inputs), list(model.params)
    setup, backward = model.backward_setup, model.backward
    mark, settle = watch.mark, watch.settle

    def forward_only() -> Any:
        mark()
        output = forward(*inputs)
        mark()
        settle()
        return output

    if backward is None:
        return forward_only

    def forward_and_backward() -> Any:
        mark()
        output = forward(*inputs)
        mark()
        arguments = (output,) if setup is None else setup(output)
        mark()
        backward(*arguments)
        mark()
        zero_gradients(params)
        settle()
        return output

    return forward_and_backward


def zero_gradients(params: list[torch.Tensor]) -> None:
    """Sets every gradient to zero in place.

    Raises:
        RunnerError: A parameter has none: backward did not reach it.
    """
    gradients: list[torch.Tensor] = [param.grad for param in params if param.grad is not None]
    missing = len(params) - len(gradients)
    if missing:
        first = next(index for index, param in enumerate(params) if param.grad is None)
        raise RunnerError(
            f"{missing} of {len(params)} parameters have no gradient after backward, first number {first}"
        )
    if gradients:
        torch._foreach_zero_(gradients)


def check_finite(output: Any) -> None:
    """Refuses an output with a NaN or an infinity in it.

    Raises:
        RunnerError: There is one; the message says where.
    """
    for name, tensor in _tensors("output", output):
        wrong = ~torch.isfinite(tensor)
        count = int(wrong.sum())
        if count:
            index = tuple(wrong.nonzero()[0].tolist())
            value = tensor[index].item()
            raise RunnerError(f"{name} holds {count} values that are not finite, the first {value} at {list(index)}")


def _tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Every floating-point tensor in nested tuples and lists, with its path."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield name, value.detach()
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _tensors(f"{name}[{index}]", item)
