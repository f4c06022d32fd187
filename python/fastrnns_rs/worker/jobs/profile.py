"""Job of the profiled process.

Every runner is built and warmed up first. Then each runs its iterations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.models.definition import ModelDef
from fastrnns_rs.processes.framing import framed
from fastrnns_rs.runners.plan import Plan, Task, make_plan
from fastrnns_rs.worker.gradients import Gradients
from fastrnns_rs.worker.jobs.probe import probe
from fastrnns_rs.worker.profile.answer import Answer, RunnerAnswer
from fastrnns_rs.worker.profile.ranges import NvtxRanges, Unmarked, capture_window
from fastrnns_rs.worker.recorded_settings import settings_of_one
from fastrnns_rs.worker.timed_loop import Measurement, build, entered, garbage_collection_off
from fastrnns_rs.worker.torch_settings import keep_jit_settings, prepare_cublas, run_settings
from fastrnns_rs.worker.torch_switches import keep_switches

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.runners.profile_request import ProfileRequest
    from fastrnns_rs.worker.profile.ranges import Annotator, Marks


@dataclass(slots=True)
class _Prepared:
    task: Task
    model: ModelDef
    answer: RunnerAnswer
    #: Set the settings of TorchScript that the runner itself has chosen: no run records them.
    chosen: Sequence[Callable[[], object]] = ()


def make_profile_plan(request: ProfileRequest) -> Plan:
    """Returns the plan of a request. Torch is probed in this process.

    Raises:
        MissingError: If the device is missing.
        UsageError: If options contradict each other or the device.
    """
    prepare_cublas(deterministic=request.options.modes.deterministic)
    plan = make_plan(request.options, Facts(**probe(request.options.device, request.options.computed_dtype)))
    plan = replace(plan, tasks=[task for task in plan.tasks if not task.refusal])
    if not plan.tasks:
        raise UsageError("no runners to profile: no runner supports the options", "Change the options.")
    request.captured(plan.nloops)
    return plan


def run(
    request: ProfileRequest,
    plan: Plan,
    *,
    stem: Path,
    answer_path: Path | None = None,
    say: Callable[[str], None] = lambda _line: None,
) -> Answer:
    """Runs a plan in this process, with marks for the requested profiler.

    Args:
        request: Profile request.
        plan: Plan of the request.
        stem: Start of the names of torch's files, where torch's profiler is the tool.
        answer_path: File for the answer.
        say: Called with a line of text as each runner begins.

    Returns:
        The answer. A runner that failed is an entry with a reason.
    """
    answer = Answer(runners=[RunnerAnswer(name=task.runner.name) for task in plan.tasks])
    watched = answer_path is not None
    with framed() if watched else nullcontext():
        try:
            # Without a profiler marks are useless, unless the user has started a profiler.
            annotator = Unmarked() if request.tool is None and watched else _annotator(request, plan, stem)

            def save() -> None:
                if request.tool == "torch":
                    _note_cycles(answer, annotator)
                answer.save(answer_path)

            _run_all(request, plan, answer, annotator, save, say)
        except Exception as error:
            answer.refuse(error)
            # The error may be that the answer cannot be written.
            with suppress(FastrnnsError):
                answer.save(answer_path)
            raise
    return answer


def _annotator(request: ProfileRequest, plan: Plan, stem: Path) -> Annotator:
    if request.tool != "torch":
        return NvtxRanges()
    from fastrnns_rs.worker.profile.torch_session import TorchSession

    return TorchSession(request.torch, plan.tasks[0].problem.device, stem.parent, stem.name)


def _note_cycles(answer: Answer, session: Any) -> None:
    """Records the results of torch's profiler so far."""
    answer.cycles = [asdict(cycle) for cycle in session.results]
    answer.warnings = session.warnings


def _run_all(
    request: ProfileRequest,
    plan: Plan,
    answer: Answer,
    annotator: Annotator,
    save: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Builds every runner, then runs each, under the plan's settings of torch."""
    if request.options.threads is not None:
        torch.set_num_threads(request.options.threads)
    with run_settings(request.options.jit, plan.tasks[0].problem):
        prepared = _prepare(request, plan, answer, save, say)
        save()
        with garbage_collection_off():
            _measure_each(request, plan, prepared, annotator, save, say)
    answer.finished = True
    save()


def _prepare(
    request: ProfileRequest, plan: Plan, answer: Answer, save: Callable[[], None], say: Callable[[str], None]
) -> list[_Prepared]:
    """Builds every model and runs its warm-up, before the capture."""
    prepared = []
    for task, one in zip(plan.tasks, answer.runners, strict=True):
        say(f"{one.name}: building, {plan.warmup} warm-up iterations")
        one.status, one.step = "running", "building the model"
        # If the runner ends the process, the saved answer names it.
        save()
        try:
            with settings_of_one(request.options.jit, task.problem) as recorded:
                model = build(task.runner.creator, task.problem)
                recorded.check()
                one.phases = ["forward"] if model.backward is None else ["forward", "backward"]
                built = _Prepared(task, model, one)
                one.step = "warm-up"
                save()
                with entered(model), Unmarked().profile(one.name) as marks:
                    _loop(built, plan.warmup, marks, Measurement(plan.warmup))
                    recorded.check_in_context()
                built.chosen = [*keep_jit_settings(request.options.jit), *keep_switches()]
            prepared.append(built)
            one.status = "pending"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # the others can still be profiled
            one.fail(error)
    return prepared


def _measure_each(
    request: ProfileRequest,
    plan: Plan,
    prepared: list[_Prepared],
    annotator: Annotator,
    save: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Runs the iterations of each runner.

    Torch's profiler has its own schedule. Other profilers are started and stopped here.
    """

    def begin(one: _Prepared) -> None:
        say(f"{one.answer.name}: {plan.nloops} iterations")
        one.answer.status, one.answer.step = "running", "capturing"
        save()

    if not prepared:
        return
    begin(prepared[0])
    # One window covers all runners, because nsys ignores a second window. Torch has its own schedule.
    with nullcontext() if request.tool == "torch" else capture_window(plan.tasks[0].problem.device):
        for index, one in enumerate(prepared):
            if index:
                save()
                time.sleep(request.sleep_between_seconds)
                begin(one)
            _measure(request, one, plan.nloops, annotator)


@contextmanager
def _chosen(one: _Prepared) -> Iterator[None]:
    """Applies what the runner has chosen; its own context comes after it."""
    for choose in one.chosen:
        choose()
    yield


def _measure(request: ProfileRequest, one: _Prepared, nloops: int, annotator: Annotator) -> None:
    measurement = Measurement(nloops)
    try:
        with (
            settings_of_one(request.options.jit, one.task.problem) as recorded,
            _chosen(one),
            entered(one.model),
            annotator.profile(one.answer.name) as marks,
        ):
            _loop(one, nloops, marks, measurement)
            recorded.check_in_context()
        one.answer.status = "ok"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # the others can still be profiled
        one.answer.fail(error)
    samples = measurement.samples()
    one.answer.forward_ns = samples["forward_ns"]
    one.answer.backward_ns = samples["backward_ns"]


def _loop(one: _Prepared, count: int, marks: Marks, measurement: Measurement) -> None:
    """Runs iterations with the edges of `bench`.

    The edges of a phase are inside its range.
    """
    if not count:
        return
    model, backward = one.model, one.model.backward
    watch = measurement.begin(one.task.problem.device, has_backward=backward is not None)
    gradients = Gradients(model.params if backward is not None else ())
    for _ in range(count):
        with marks.phase("forward"):
            watch.mark()
            output = model.forward(*model.inputs)
            watch.mark()
        if backward is not None:
            arguments = (output,) if model.backward_setup is None else model.backward_setup(output)
            with marks.phase("backward"):
                watch.mark()
                backward(*arguments)
                watch.mark()
            gradients.zero()
            del arguments
        del output
        watch.end_iteration()
        marks.step()
