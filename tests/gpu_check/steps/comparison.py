"""Structure of an iteration: calls on the device here, and on the emulated device, are the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from emulated_cuda import building
from emulated_cuda.machine import CallLog, Machine, logs

from gpu_check import iteration_counts, traces
from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError

if TYPE_CHECKING:
    from gpu_check.session import Session

#: Models of `device_runners`, with the edges that their iterations have.
MODELS = {"sleeping": 4, "launching": 4, "unjoined": 4, "precision_reader": 2, "large": 2}
#: Least times of `sleeping`, forward and backward. A clock below its maximum makes them longer.
_LEAST_NS = (3.6e6, 4.5e6)
_ITERATIONS = 10
_LIMIT_S = 60.0

Counts = dict[str, int]


def run(session: Session) -> Iterator[Item]:
    """Yields an item for each model."""
    for model in session.options.models or MODELS:
        try:
            yield _compared(session, model)
        except NotRunError as error:
            yield Item(name=model, status=NOT_RUN, reason=str(error))


def _compared(session: Session, model: str) -> Item:
    times_file, trace = session.path("comparison", f"{model}.json"), session.path("comparison", f"{model}.trace.json")
    words = ("-m", "gpu_check.counted_loop", model, str(_ITERATIONS), str(times_file))
    ended = session.python(f"comparison-{model}", *words, str(trace), limit_s=_LIMIT_S)
    if ended.status != 0 or not trace.exists():
        return Item(name=model, status=FAILED, reason=ended.reason, seconds=ended.seconds, log=ended.excerpt)
    times = json.loads(times_file.read_text(encoding="utf-8"))
    here = iteration_counts.of_iteration(traces.read(trace))
    figures: dict[str, Any] = {**(here or {}), **times}
    if here is None:
        reason = "the trace of torch.profiler contains no calls of the CUDA runtime"
        return Item(name=model, status=FAILED, reason=reason, seconds=ended.seconds, figures=figures)
    problems = [*_problems(model, here, times)]
    emulated, why = _emulated(session, model)
    if emulated is not None:
        figures["emulated"] = emulated
        pairs = ((kind, count, emulated[kind]) for kind, count in here.items())
        problems += [
            f"{kind}: {count}, {other} on the emulated device" for kind, count, other in pairs if count != other
        ]
    else:
        figures["emulated"] = f"comparison not done: {why}"
    reason = "; ".join(problems) or None
    return Item(name=model, status=FAILED if reason else OK, reason=reason, seconds=ended.seconds, figures=figures)


def _problems(model: str, counts: Counts, times: Mapping[str, float]) -> Iterator[str]:
    """Yields faults that do not depend on the emulated device."""
    expected = {"events": MODELS.get(model), "synchronisations": 1}
    for kind, count in expected.items():
        if count is not None and counts[kind] != count:
            yield f"{kind}: {counts[kind]}, expected {count}"
    if model == "sleeping":
        for name, least in zip(("forward_ns", "backward_ns"), _LEAST_NS, strict=True):
            if times[name] < least:
                yield f"{name}: {times[name]:.0f}, expected at least {least:.0f}"


def _emulated(session: Session, model: str) -> tuple[Counts | None, str]:
    """Returns the counts on the emulated device, or None and the reason."""
    if building.compiler() is None:
        return None, "no C++ compiler on the path"
    folder = session.path("comparison", "emulated", model, "calls").parent
    try:
        variables = Machine().environment(folder)
    except Exception as error:  # noqa: BLE001  # any part of a build may fail; the device here is what counts
        return None, f"the emulated device was not built: {error}"
    times = folder / "times.json"
    words = ("-m", "gpu_check.counted_loop", model, str(_ITERATIONS), str(times))
    ended = session.python(f"emulated-{model}", *words, limit_s=_LIMIT_S, variables=variables)
    if ended.status != 0:
        return None, f"the loop failed on the emulated device: {ended.reason}"
    found = [counts for log in logs(folder) if (counts := iteration_counts.of_iteration(_called(log))) is not None]
    return (found[0], "") if found else (None, "the log of the emulated device contains no iteration")


def _called(log: CallLog) -> CallLog:
    """Returns the calls without those of CUDA's other libraries, which a trace does not contain."""
    return CallLog([one for one in log.calls if one.function.startswith(("cuda", "cuLaunch"))])
