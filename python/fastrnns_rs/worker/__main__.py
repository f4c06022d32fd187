"""Child process that does one job: `python -m fastrnns_rs.worker`.

The job is one line of JSON on standard input. Lines of JSON go to standard output: the current phase, then the result.
Text that a runner prints goes to standard error. A second line on standard input, `stop`, requests the results so far.
`turn` and `end` are for a loop that takes turns with that of another process. The end of standard input means that
the parent is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import IO

from fastrnns_rs.processes import phases
from fastrnns_rs.processes.working_directory import leave_removed_directory
from fastrnns_rs.worker import jobs
from fastrnns_rs.worker.channel import Channel, Progress, print_traceback, reason


def main() -> None:
    """Reads a job from standard input and answers it."""
    # Runners may read and print, and C++ below them too. What they share with the parent is moved out of their way:
    # standard input is empty for them, and both descriptors of standard output lead to standard error.
    control = os.fdopen(os.dup(0))
    channel = Channel(os.fdopen(os.dup(1), "w"))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _die_with_parent()
    leave_removed_directory()
    job = json.loads(control.readline())
    progress = Progress()
    try:
        # The system may refuse another thread.
        threading.Thread(target=_watch_parent, args=(control, channel, progress), daemon=True).start()
        if job["sys_path"] is not None:
            sys.path[:] = job["sys_path"]
        if job["affinity"] is not None:
            # The affinity is set before torch is loaded, because torch counts the CPUs.
            os.sched_setaffinity(0, job["affinity"])
        # Importing torch is a phase with a limit of its own.
        channel.phase(phases.IMPORT)
        content = jobs.find(job["kind"])(job, channel, progress)
    except BaseException as error:  # noqa: BLE001  # the process ends here, and its parent wants to know why
        print_traceback()
        content = {"status": "failed", "reason": reason(error), **progress.so_far()}
    for name in ("stdout", "stderr"):
        # A runner may have closed, removed or replaced them.
        with contextlib.suppress(Exception):
            getattr(sys, name).flush()
    channel.result(content)
    # A runner may have left threads behind that would keep the interpreter from ending.
    os._exit(0)


def _watch_parent(control: IO[str], channel: Channel, progress: Progress) -> None:
    """Ends the process when the parent requests it, or is gone.

    It waits in a read, so that it costs the loop nothing.
    """
    word = control.readline().strip()
    while word in {phases.TURN, phases.END}:
        progress.words.put(word)
        word = control.readline().strip()
    if word:
        channel.result({"status": "interrupted", "reason": "interrupted", **progress.so_far()})
    os._exit(1)


def _die_with_parent() -> None:
    """Makes the kernel end this process with its parent.

    This works even while a runner holds the interpreter.
    """
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


if __name__ == "__main__":
    main()
