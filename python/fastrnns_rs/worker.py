"""The child process that builds one runner and times it: `python -m fastrnns_rs.worker`.

One line of JSON comes in on standard input, the job. Lines of JSON go out on standard output: the phase that was
reached, then the result. Whatever a runner prints goes to standard error. A second line on standard input, `stop`, asks
for what was measured so far; its end means that the parent is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import traceback
from functools import partial
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastrnns_rs.compiling import Compiling
    from fastrnns_rs.measuring import Measurement, More
    from fastrnns_rs.runners import Runner


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

    def part(self, content: dict[str, Any]) -> None:
        """Sends a part of the result, of a job that has several."""
        with self._lock:
            self._write({"kind": "part", **content})

    def result(self, content: dict[str, Any]) -> None:
        """Sends the result, unless one was sent."""
        with self._lock:
            if not self._answered:
                self._answered = True
                self._write({"kind": "result", **content})

    def _write(self, message: dict[str, Any]) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


class Progress:
    """Where the watcher finds what was measured so far."""

    def __init__(self) -> None:
        self.measurement: Measurement | None = None
        self.compiling: Compiling | None = None

    def so_far(self) -> dict[str, Any]:
        """The samples of complete iterations, if there are any, and what compiling cost."""
        nothing: dict[str, Any] = {"forward_ns": [], "backward_ns": None, "timed_loop_ns": None}
        if self.measurement is None:
            return nothing
        try:
            return {**self.measurement.samples(), **self.compiled()}
        except Exception:  # noqa: BLE001  # a broken device must not hide why it broke
            _print_traceback()
            return nothing

    def compiled(self) -> dict[str, Any]:
        """What compiling cost by now, of a runner that compiles."""
        return {} if self.compiling is None else {"compile": self.compiling.facts()}


def bench(job: dict[str, Any], channel: Channel, progress: Progress) -> dict[str, Any]:
    """Builds the job's runner and times it."""
    channel.phase("import")
    import torch

    from fastrnns_rs import memory
    from fastrnns_rs.context import JitSettings, prepare_cublas
    from fastrnns_rs.measuring import Measurement, measure
    from fastrnns_rs.pacing import Loop, Pace, timed_part
    from fastrnns_rs.problem import Problem

    problem = Problem(**job["problem"])
    prepare_cublas(deterministic=problem.deterministic)
    runner = _runner(job)
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    loop = Loop(**job["loop"])
    measurement = Measurement(loop.capacity, partial(timed_part, loop))
    progress.measurement = measurement
    more: More = Pace(loop).next
    if job.get("ranks") is not None:
        from fastrnns_rs.joining import Ranks

        more = Ranks(job["ranks"], job["patience_s"], channel.phase).together(more)
    settings: dict[str, Any] = {}
    if runner.compiles:
        from fastrnns_rs.compiling import Compiling

        progress.compiling = Compiling(problem.device, channel.phase, shared=job["shared_compile_cache"])
        settings["ahead"] = progress.compiling.ahead
    baseline = memory.in_use(problem.device)
    measure(runner.creator, problem, JitSettings(**job["jit"]), measurement, more, channel.phase, **settings)
    # Before the samples are looked at, which takes memory too.
    used = {**memory.peak(problem.device), "baseline_memory_bytes": baseline}
    return {"status": "ok", **measurement.samples(), **progress.compiled(), **used}


def main() -> None:
    """Reads a job from standard input and answers it."""
    # Runners may read and print, and C++ below them too. What they share with the parent is moved out of their way:
    # standard input is empty for them, and both descriptors of standard output lead to standard error.
    control = os.fdopen(os.dup(0))
    channel = Channel(os.fdopen(os.dup(1), "w"))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _die_with_parent()
    job = json.loads(control.readline())
    progress = Progress()
    threading.Thread(target=_watch_parent, args=(control, channel, progress), daemon=True).start()
    if job["sys_path"] is not None:
        sys.path[:] = job["sys_path"]
    if job["affinity"] is not None:
        # Before torch is loaded, which counts the CPUs that it may use.
        os.sched_setaffinity(0, job["affinity"])
    try:
        if job["kind"] == "probe":
            from fastrnns_rs.probing import probe

            content = {"status": "ok", "facts": probe(job["device"], job["dtype"])}
        elif job["kind"] == "verify":
            from fastrnns_rs.verifying.child.inside import verify

            content = verify(job, channel, _runner, _reason)
        elif job["kind"] == "compile":
            from fastrnns_rs.inductor.child.compiling import compile_runner

            content = compile_runner(job, channel, _runner)
        elif job["kind"] == "inductor":
            from fastrnns_rs.inductor.child.inside import measure

            content = measure(job, channel)
        else:
            content = bench(job, channel, progress)
    except BaseException as error:  # noqa: BLE001  # the process ends here, and its parent wants to know why
        _print_traceback()
        content = {"status": "failed", "reason": _reason(error), **progress.so_far()}
    for stream in (sys.stdout, sys.stderr):
        # A runner may have closed them.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    channel.result(content)
    # A runner may have left threads behind that would keep the interpreter from ending.
    os._exit(0)


def _print_traceback() -> None:
    """For FASTRNNS_DEBUG; a runner may have closed standard error."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        traceback.print_exc()


def _runner(job: dict[str, Any]) -> Runner:
    from fastrnns_rs import registry, runners

    return registry.obtain(job["runner"], runners.Source(**job["source"]))


def _watch_parent(control: IO[str], channel: Channel, progress: Progress) -> None:
    """Ends the process when the parent asks for it, or is gone. It waits in a read, and costs the loop nothing."""
    if control.readline():
        channel.result({"status": "interrupted", "reason": "interrupted", **progress.so_far()})
    os._exit(1)


def _die_with_parent() -> None:
    """Has the kernel end this process with its parent, even while a runner holds the interpreter."""
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _reason(error: BaseException) -> str:
    """One line that says what went wrong."""
    try:
        text = str(error).strip()
    except BaseException as second:  # noqa: BLE001  # an error whose text is an error too
        text = f"its message cannot be shown: {type(second).__name__}"
    first = text.splitlines()[0] if text else ""
    if type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in text:
        return f"out of memory: {first}"
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r}) was called"
    from fastrnns_rs.errors import FastrnnsError

    if isinstance(error, FastrnnsError):
        return text
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


if __name__ == "__main__":
    main()
