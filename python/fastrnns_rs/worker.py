"""The child process that builds one runner and times it: `python -m fastrnns_rs.worker`.

One line of JSON comes in on standard input, the job. Lines of JSON go out on standard output: the phase that was
reached, then the result. Whatever a runner prints goes to standard error. A second line on standard input, `stop`, asks
for what was measured so far; its end means that the parent is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastrnns_rs.measuring import Stopwatch
    from fastrnns_rs.runners import Runner

#: Set in every worker: a runner's file that benches when it is imported would start workers without end.
MARK = "FASTRNNS_WORKER"


class Channel:
    """The way back to the parent. Whoever sends the result first, the loop or the watcher, sends the only one."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._answered = False

    def phase(self, name: str) -> None:
        """Says what happens next."""
        with self._lock:
            self._write({"kind": "phase", "name": name})

    def result(self, content: dict[str, Any]) -> None:
        """Sends the result, unless one was sent."""
        with self._lock:
            if not self._answered:
                self._answered = True
                self._write({"kind": "result", **content})

    def _write(self, message: dict[str, Any]) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


class Measurement:
    """What is known of the loop at any moment, so that a watcher can report it."""

    def __init__(self, warmup: int) -> None:
        self._warmup = warmup
        self._watch: Stopwatch | None = None
        self._has_backward = False

    def begin(self, watch: Stopwatch, *, has_backward: bool) -> None:
        """From now on there is a stopwatch to read."""
        self._has_backward = has_backward
        self._watch = watch

    def samples(self) -> dict[str, Any]:
        """The samples of the iterations that are complete."""
        from fastrnns_rs.measuring import BACKWARD, FORWARD

        watch = self._watch
        if watch is None:
            return {"forward_ns": [], "backward_ns": None, "timed_loop_ns": None}
        count = watch.iterations
        timed = count > self._warmup
        return {
            # The loop may go on while a watcher reads: no more than what was complete at first.
            "forward_ns": watch.durations_ns(*FORWARD)[:count],
            "backward_ns": watch.durations_ns(*BACKWARD)[:count] if self._has_backward else None,
            "timed_loop_ns": watch.elapsed_ns(self._warmup) if timed else None,
            "timing_mode": watch.timing_mode,
            "timer_resolution_ns": watch.resolution_ns,
        }


def bench(job: dict[str, Any], channel: Channel, measurement: Measurement) -> dict[str, Any]:
    """Builds the job's runner and times it."""
    channel.phase("import")
    import torch

    from fastrnns_rs import measuring
    from fastrnns_rs.context import (
        JitSettings,
        jit_settings,
        tf32_allowed,
        torchscript_warnings_silenced,
    )
    from fastrnns_rs.problem import Problem

    problem = Problem(**job["problem"])
    one = _runner(job)
    iterations = job["warmup"] + job["nloops"]
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    with ExitStack() as stack:
        stack.enter_context(jit_settings(JitSettings(**job["jit"])))
        stack.enter_context(tf32_allowed(problem.allow_tf32))
        stack.enter_context(torchscript_warnings_silenced())
        if torch.device(problem.device).type == "cuda":
            stack.enter_context(torch.cuda.device(problem.device))
        channel.phase("build")
        model = one.creator(problem)
        stack.enter_context(model.context())
        has_backward = model.backward is not None
        watch = measuring.stopwatch(problem.device, iterations, has_backward=has_backward)
        measurement.begin(watch, has_backward=has_backward)
        channel.phase("measure")
        measuring.run_loop(model, watch, iterations)
    return {"status": "ok", **measurement.samples(), **_peak_memory(problem.device)}


def main() -> None:
    """Reads a job from standard input and answers it."""
    os.environ[MARK] = "1"
    # Runners may print, and C++ below them too: both descriptors of standard output now lead to standard error.
    channel = Channel(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)
    job = json.loads(sys.stdin.readline())
    measurement = Measurement(job.get("warmup", 0))
    threading.Thread(target=_watch_parent, args=(channel, measurement), daemon=True).start()
    sys.path[:] = job["sys_path"]
    try:
        if job["kind"] == "probe":
            from fastrnns_rs.probing import probe

            content = {"status": "ok", "facts": probe(job["device"], job["dtype"])}
        else:
            content = bench(job, channel, measurement)
    except BaseException as error:  # noqa: BLE001# the process ends here, and its parent wants to know why
        content = {"status": "failed", "reason": _reason(error), **_samples(measurement)}
    channel.result(content)
    # A runner may have left threads behind that would keep the interpreter from ending.
    sys.stderr.flush()
    os._exit(0)


def _runner(job: dict[str, Any]) -> Runner:
    from fastrnns_rs import registry, runners

    if job["runner"] not in registry.all_runners():
        registry.load(runners.Source(**job["source"]))
    return registry.find(job["runner"])


def _watch_parent(channel: Channel, measurement: Measurement) -> None:
    """Ends the process when the parent asks for it, or is gone. It waits in a read, and costs the loop nothing."""
    if sys.stdin.readline():
        channel.result({"status": "interrupted", "reason": "interrupted", **_samples(measurement)})
    os._exit(1)


def _samples(measurement: Measurement) -> dict[str, Any]:
    try:
        return measurement.samples()
    except Exception as error:  # noqa: BLE001# a broken device must not hide why it broke
        return {"forward_ns": [], "backward_ns": None, "timed_loop_ns": None, "samples_lost": _reason(error)}


def _reason(error: BaseException) -> str:
    """One line that says what went wrong."""
    text = str(error).strip()
    first = text.splitlines()[0] if text else ""
    if type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in text:
        return f"out of memory: {first}"
    if isinstance(error, SystemExit):
        return f"the runner called sys.exit({error.code!r})"
    from fastrnns_rs.errors import FastrnnsError

    return str(error) if isinstance(error, FastrnnsError) else f"{type(error).__name__}: {first}"


def _peak_memory(device: str) -> dict[str, int | None]:
    """The most memory that was in use: of the device's allocator on CUDA, of the whole process on a CPU."""
    import torch

    if torch.device(device).type == "cuda":
        return {
            "peak_memory_bytes": torch.cuda.max_memory_allocated(device),
            "peak_reserved_bytes": torch.cuda.max_memory_reserved(device),
        }
    import resource

    kibibyte = 1024
    return {
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kibibyte,
        "peak_reserved_bytes": None,
    }


if __name__ == "__main__":
    main()
