"""Timed loop: iterations with recorded edges of phases, and no other work inside."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.models.definition import ModelDef
from fastrnns_rs.processes.phases import BUILD, MEASURE, WARM_UP
from fastrnns_rs.worker.finite import check_finite
from fastrnns_rs.worker.gradients import Gradients
from fastrnns_rs.worker.problem_tensors import check_tensors
from fastrnns_rs.worker.recorded_settings import RecordedSettings
from fastrnns_rs.worker.stopwatch import BACKWARD, FORWARD, Stopwatch, stopwatch
from fastrnns_rs.worker.torch_settings import run_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fastrnns_rs.problem.jit_settings import JitSettings
    from fastrnns_rs.problem.loop import Sync
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Creator
    from fastrnns_rs.worker.pacing import TimedPart

    #: Function of the number of complete iterations and of a function that returns their samples; returns how many to
    #: run next.
    More: TypeAlias = Callable[[int, Callable[[], Sequence[Sequence[int]]]], int]


class Measurement:
    """Samples of a loop so far.

    Any thread may read them while another runs the loop.

    Args:
        capacity: Maximum number of iterations.
        timed_part: Function that finds the timed iterations from the samples of each phase.

    Attributes:
        left_out: Iterations that are not samples.
    """

    def __init__(self, capacity: int, timed_part: Callable[[list[list[int]]], TimedPart] | None = None) -> None:
        self.capacity = capacity
        self._timed_part = timed_part
        self._watch: Stopwatch | None = None
        self._has_backward = False
        self.left_out: Collection[int] = ()

    def begin(self, device: str, *, has_backward: bool, sync: Sync = "iteration") -> Stopwatch:
        """Makes the stopwatch, which other threads can then read."""
        watch = stopwatch(device, self.capacity, has_backward=has_backward, sync=sync)
        self._has_backward = has_backward
        self._watch = watch
        return watch

    def phases(self) -> list[list[int]]:
        """Returns, for each phase, one sample per complete iteration, in nanoseconds."""
        watch = self._watch
        return [[]] if watch is None else self._phases(watch, watch.iterations)

    def _phases(self, watch: Stopwatch, count: int) -> list[list[int]]:
        edges = (FORWARD, BACKWARD) if self._has_backward else (FORWARD,)
        return [self._kept(watch.durations_ns(*one)[:count]) for one in edges]

    def _kept(self, samples: list[int]) -> list[int]:
        if not self.left_out:
            return samples
        return [one for place, one in enumerate(samples) if place not in self.left_out]

    def _host_samples(self, watch: Stopwatch, count: int) -> dict[str, list[int] | None]:
        """Returns the host's times of the phases, where devices have times of their own."""
        edges = {"forward_host_ns": FORWARD, "backward_host_ns": BACKWARD if self._has_backward else None}
        found = {name: watch.host_durations_ns(*one) if one else None for name, one in edges.items()}
        return {name: None if one is None else self._kept(one[:count]) for name, one in found.items()}

    def samples(self) -> dict[str, Any]:
        """Returns the samples of complete iterations.

        The keys are those of a process in a run file.
        """
        watch = self._watch
        # Another thread may run the loop meanwhile: only iterations that were complete at the start count.
        count = 0 if watch is None else watch.iterations
        phases = [[]] if watch is None else self._phases(watch, count)
        found: dict[str, Any] = {
            "forward_ns": phases[0],
            "backward_ns": phases[1] if len(phases) > 1 else None,
            "timed_loop_ns": None,
        }
        if watch is None:
            return found
        found |= {"timing_mode": watch.timing_mode, "timer_resolution_ns": watch.resolution_ns}
        found["unjoined_ns"] = watch.unjoined_ns
        found |= self._host_samples(watch, count)
        if self._timed_part is not None and phases[0]:
            part = self._timed_part(phases)
            found |= {"steady_from": part.steady_from, "warmup_class": part.classification}
            names = ("forward_change_points", "backward_change_points")
            found |= dict(zip(names, part.change_points, strict=False))
            # Between two slices, the time was another process's.
            if len(phases[0]) > part.steady_from and not self.left_out:
                found["timed_loop_ns"] = watch.elapsed_ns(part.steady_from)
        return found


def measure(
    creator: Creator,
    problem: Problem,
    jit: JitSettings,
    measurement: Measurement,
    more: More,
    on_phase: Callable[[str], None] = lambda _name: None,
    before_loop: Callable[[ModelDef], None] = lambda _model: None,
    sync: Sync = "iteration",
) -> None:
    """Builds a model for a problem and runs its loop.

    Torch has the settings of the problem meanwhile.

    Args:
        creator: Function that builds the model.
        problem: Problem that it is built for.
        jit: Settings of TorchScript.
        measurement: Receives the samples during the loop.
        more: Function that returns the number of iterations to run next.
        on_phase: Called with `build`, `warm-up` and `measure`, as each begins.
        before_loop: Called with the model before its loop.
        sync: Time to wait for the device.

    Raises:
        RunnerError: If the model broke its contract.
    """
    with run_settings(jit, problem):
        recorded = RecordedSettings(problem.device)
        on_phase(BUILD)
        model = build(creator, problem)
        recorded.check()
        with entered(model):
            before_loop(model)
            watch = measurement.begin(problem.device, has_backward=model.backward is not None, sync=sync)
            on_phase(WARM_UP)
            first = True

            def next_count() -> int:
                nonlocal first
                if first and watch.iterations:
                    # Between two batches: nothing is written while iterations run.
                    on_phase(MEASURE)
                    first = False
                return more(watch.iterations, measurement.phases)

            run_loop(model, watch, next_count)
            recorded.check_in_context()
        recorded.check()


@contextmanager
def entered(model: ModelDef) -> Iterator[None]:
    """Enters the context of a model, which may not hide an error of a call."""
    hidden: BaseException | None = None
    with model.context():
        try:
            yield
        except BaseException as error:
            hidden = error
            raise
    if hidden is not None:
        raise hidden


def build(creator: Creator, problem: Problem) -> ModelDef:
    """Returns a model for a problem, in the modes of the problem.

    The modes decide which phases are timed, and in which precision.

    Raises:
        RunnerError: If the creator returned no model, or the model has another dtype or device than the problem.
    """
    model = model_def(creator(problem))
    check_tensors(model, problem)
    if problem.training:
        return replace(model, forward=_with_autocast(model.forward, problem)) if problem.amp else model
    if isinstance(model.forward, torch.nn.Module):
        model.forward.eval()
    for param in model.params:
        if param.is_leaf:
            # TorchScript would prepare derivatives of its inputs, which fails in inference mode.
            param.requires_grad_(False)  # noqa: FBT003
    forward = _with_autocast(model.forward, problem) if problem.amp else model.forward
    without_gradients = partial(_without_gradients, model.context)
    return replace(model, forward=forward, backward_setup=None, backward=None, context=without_gradients)


@contextmanager
def _without_gradients(context: Callable[[], AbstractContextManager[Any]]) -> Iterator[None]:
    with context(), torch.inference_mode():
        yield


def _with_autocast(forward: Callable[..., Any], problem: Problem) -> Callable[..., Any]:
    """Returns `forward` under autocast, entered in each call.

    Only then are the weights rounded in every iteration.
    """
    device = torch.device(problem.device).type

    def mixed(*inputs: Any) -> Any:
        with torch.autocast(device, dtype=torch.bfloat16):
            return forward(*inputs)

    return mixed


def model_def(built: Any) -> ModelDef:
    """Returns the result of a creator as a `ModelDef`.

    PyTorch's fastrnns has its own class with the same five fields.
    """
    if isinstance(built, ModelDef):
        return built
    fields = ("inputs", "params", "forward", "backward_setup", "backward")
    if not all(hasattr(built, field) for field in fields):
        raise RunnerError(f"the runner returned {type(built).__name__}, not a ModelDef")
    return ModelDef(**{field: getattr(built, field) for field in fields})


def run_loop(model: ModelDef, watch: Stopwatch, more: Callable[[], int]) -> None:
    """Runs the model forward and backward, and records the edges on `watch`.

    The loop ends when `more` returns 0. `more` returns the number of iterations to run, and is called again after them.
    Outputs and gradients of the last of them are checked to be finite. The last two are checked for unjoined work: one
    measures it, and leaves an idle device to the other, which measures what asking costs.

    Raises:
        RunnerError: If a parameter has no gradient after backward, or an output or a gradient contains NaN or an
            infinity.
    """
    params = model.params if model.backward is not None else ()
    gradients = Gradients(params)

    def check(output: Any) -> None:
        check_finite("output", output)
        check_finite("gradient", [param.grad for param in params])

    def iteration(*after: Callable[[Any], None]) -> Callable[[], None]:
        return _iteration(model, gradients, watch, after)

    def find(_output: Any) -> None:
        watch.find_unjoined()

    def ask(_output: Any) -> None:
        watch.ask_when_idle()

    usual, first, before_last = iteration(), iteration(check), iteration(find)
    last, last_on_idle = iteration(find, check), iteration(ask, check)
    on_idle = False
    with garbage_collection_off():
        while count := more():
            if not watch.iterations:
                # Whatever it calls is called for the first time: it shows no cost that others have.
                first()
                count -= 1
            for _ in range(count - 2):
                usual()
            if count > 1:
                before_last()
                on_idle = True
            if count:
                (last_on_idle if on_idle else last)()
                on_idle = not on_idle


def exactly(iterations: int) -> More:
    """Makes a loop run a fixed number of iterations.

    The first is checked, then the others run.
    """
    return lambda count, _phases: min(1, iterations) if count == 0 else iterations - count


def run_exactly(model: ModelDef, watch: Stopwatch, iterations: int) -> None:
    """Runs a loop of a fixed number of iterations."""
    more = exactly(iterations)
    run_loop(model, watch, lambda: more(watch.iterations, list))


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Collects garbage once, and turns the garbage collector off inside the block."""
    # Only objects newer than torch's import: a search of all of torch takes a tenth of the time of the import.
    gc.collect(1)
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _iteration(
    model: ModelDef, gradients: Gradients, watch: Stopwatch, after: Sequence[Callable[[Any], None]]
) -> Callable[[], None]:
    """Returns a function that runs one iteration, and then others of its output.

    As a function it releases its tensors before the next iteration begins.
    """
    forward, inputs = model.forward, tuple(model.inputs)
    setup, backward = model.backward_setup, model.backward
    mark, end_phase, end_iteration = watch.mark, watch.end_phase, watch.end_iteration

    def forward_only() -> None:
        mark()
        output = forward(*inputs)
        mark()
        end_iteration()
        for call in after:
            call(output)

    if backward is None:
        return forward_only

    def forward_and_backward() -> None:
        mark()
        output = forward(*inputs)
        mark()
        end_phase()
        arguments = (output,) if setup is None else setup(output)
        mark()
        backward(*arguments)
        mark()
        for call in after:
            call(output)
        gradients.zero()
        end_iteration()

    return forward_and_backward
