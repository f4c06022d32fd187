"""The timed loop: one iteration after the other, each edge of a phase marked, nothing else inside."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.context import (
    JitSettings,
    driver_warnings_silenced,
    jit_settings,
    tf32_allowed,
    torchscript_warnings_silenced,
)
from fastrnns_rs.errors import RunnerError
from fastrnns_rs.models.definition import ModelDef
from fastrnns_rs.stopwatch import BACKWARD, FORWARD, Stopwatch, stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastrnns_rs.problem import Problem
    from fastrnns_rs.runners import Creator


class Measurement:
    """What is known of a loop at any moment. Any thread may ask while another runs the loop.

    Args:
        warmup: Iterations at the beginning that are not timed iterations.
        nloops: Timed iterations.
    """

    def __init__(self, warmup: int, nloops: int) -> None:
        self.warmup = warmup
        self.iterations = warmup + nloops
        self._watch: Stopwatch | None = None
        self._has_backward = False

    def begin(self, device: str, *, has_backward: bool) -> Stopwatch:
        """Makes the stopwatch; from now on there is one to read."""
        watch = stopwatch(device, self.iterations, has_backward=has_backward)
        self._has_backward = has_backward
        self._watch = watch
        return watch

    def samples(self) -> dict[str, Any]:
        """The samples of the iterations that are complete, as the keys of a process in a run file."""
        watch = self._watch
        if watch is None:
            return {"forward_ns": [], "backward_ns": None, "timed_loop_ns": None}
        count = watch.iterations
        return {
            # The loop may go on while a watcher reads: no more than what was complete at first.
            "forward_ns": watch.durations_ns(*FORWARD)[:count],
            "backward_ns": watch.durations_ns(*BACKWARD)[:count] if self._has_backward else None,
            "timed_loop_ns": watch.elapsed_ns(self.warmup) if count > self.warmup else None,
            "timing_mode": watch.timing_mode,
            "timer_resolution_ns": watch.resolution_ns,
        }


def measure(
    creator: Creator,
    problem: Problem,
    jit: JitSettings,
    measurement: Measurement,
    on_phase: Callable[[str], None] = lambda _name: None,
) -> None:
    """Builds a model for a problem and runs its loop, under the problem's settings of torch and no others.

    Args:
        creator: Builds the model.
        problem: What it is built for.
        jit: How TorchScript compiles.
        measurement: Where the samples are found, during the loop and after it.
        on_phase: Called with `build` and `measure`, as each begins.

    Raises:
        RunnerError: The model broke its contract.
    """
    with ExitStack() as stack:
        stack.enter_context(jit_settings(jit))
        stack.enter_context(torchscript_warnings_silenced())
        stack.enter_context(driver_warnings_silenced())
        if torch.device(problem.device).type == "cuda":
            stack.enter_context(torch.cuda.device(problem.device))
            stack.enter_context(tf32_allowed(problem.allow_tf32))
        on_phase("build")
        model = model_def(creator(problem))
        stack.enter_context(model.context())
        watch = measurement.begin(problem.device, has_backward=model.backward is not None)
        on_phase("measure")
        run_loop(model, watch, measurement.iterations)


def model_def(built: Any) -> ModelDef:
    """What a creator returned as a `ModelDef`; PyTorch's fastrnns has one of its own with the same five fields."""
    if isinstance(built, ModelDef):
        return built
    fields = ("inputs", "params", "forward", "backward_setup", "backward")
    if not all(hasattr(built, field) for field in fields):
        raise RunnerError(f"the runner returned {type(built).__name__}, not a ModelDef")
    return ModelDef(**{field: getattr(built, field) for field in fields})


def run_loop(model: ModelDef, watch: Stopwatch, iterations: int) -> None:
    """Runs the model `iterations` times, forward and backward, and marks the edges on `watch`.

    Outputs and gradients of the first and of the last iteration are checked to be finite.

    Raises:
        RunnerError: A parameter has no gradient after backward, or an output or a gradient holds NaN or an infinity.
    """
    params = list(model.params)
    iterate = _iteration(model, params, watch)
    checked = _iteration(model, params, watch, check=True)
    with collector_off():
        checked()
        for _ in range(iterations - 2):
            iterate()
        if iterations > 1:
            checked()


@contextmanager
def collector_off() -> Iterator[None]:
    """Collects garbage once, and not again inside the block."""
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _iteration(
    model: ModelDef, params: list[torch.Tensor], watch: Stopwatch, *, check: bool = False
) -> Callable[[], None]:
    """One iteration as a function, so that what it made is released before the next one begins."""
    forward, inputs = model.forward, tuple(model.inputs)
    setup, backward = model.backward_setup, model.backward
    mark, settle = watch.mark, watch.settle

    def forward_only() -> None:
        mark()
        output = forward(*inputs)
        mark()
        settle()
        if check:
            check_finite("output", output)

    if backward is None:
        return forward_only

    def forward_and_backward() -> None:
        mark()
        output = forward(*inputs)
        mark()
        arguments = (output,) if setup is None else setup(output)
        mark()
        backward(*arguments)
        mark()
        if check:
            check_finite("output", output)
            check_finite("gradient", [param.grad for param in params])
        zero_gradients(params)
        settle()

    return forward_and_backward


def zero_gradients(params: list[torch.Tensor]) -> None:
    """Sets every gradient to zero in place.

    Raises:
        RunnerError: A parameter has none: backward did not reach it.
    """
    if not params:
        return
    gradients: Any = [param.grad for param in params]
    try:
        torch._foreach_zero_(gradients)
    except TypeError:
        # Looked at only now: this runs in every iteration, and torch takes no None.
        missing = [index for index, gradient in enumerate(gradients) if gradient is None]
        if not missing:
            raise
        count = f"{len(missing)} of {len(params)} parameters have"
        raise RunnerError(f"{count} no gradient after backward, first {missing[0]}") from None


def check_finite(name: str, value: Any) -> None:
    """Refuses a NaN or an infinity anywhere in nested tuples, lists, mappings and dataclasses of tensors.

    Raises:
        RunnerError: There is one; the message says where.
    """
    for path, tensor in _tensors(name, value):
        wrong = ~torch.isfinite(tensor)
        count = int(wrong.sum())
        if count:
            index = tuple(wrong.nonzero()[0].tolist())
            found = tensor[index].item()
            raise RunnerError(f"{path} holds {count} values that are not finite, the first {found} at {list(index)}")


def _tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor of floating-point numbers in a value, with its path."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield name, value.detach()
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _tensors(f"{name}[{index}]", item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors(f"{name}[{key!r}]", item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _tensors(f"{name}.{field.name}", getattr(value, field.name))
