"""Launcher of worker processes: starts, follows and cleans up after them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fastrnns_rs.processes.listener import Answer, Listener, Terms
from fastrnns_rs.processes.programs import module_command
from fastrnns_rs.processes.worker_setting import Setting

#: Time in seconds that one of several workers is listened to before the next.
_GLANCE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Worker to start.

    Attributes:
        job: Job that the worker reads; see `fastrnns_rs.worker`.
        terms: Time limits and callbacks.
        setting: Settings of the process; by default those of this process.
    """

    job: dict[str, Any]
    terms: Terms
    setting: Setting = field(default_factory=Setting)

    def listener(self) -> Listener:
        """Starts the worker."""
        return Listener(_command(self.setting), self.setting.environment(), self.terms)

    def encode_job(self) -> str:
        """Returns the line that the worker reads first."""
        return json.dumps({**self.job, "sys_path": self.setting.sys_path(), "affinity": self.setting.affinity})


#: Function that runs workers at the same time and returns their answers: `launch_together`, or that of a test.
Executor: TypeAlias = Callable[[Sequence[Start]], list[Answer]]


def _command(setting: Setting) -> list[str]:
    return module_command("fastrnns_rs.worker", python=setting.python)


def launch(start: Start) -> Answer:
    """Runs a job in a fresh interpreter.

    Returns:
        Answer of the worker. After Ctrl-C it contains the results until then, and is marked `interrupted`.

    Raises:
        KeyboardInterrupt: If the user pressed Ctrl-C after the worker had answered or was out of time.
    """
    return launch_together([start])[0]


def launch_together(starts: Sequence[Start]) -> list[Answer]:
    """Runs jobs at the same time, each in a fresh interpreter of its own.

    Returns:
        Answers of the workers. After Ctrl-C, workers without an answer are marked `interrupted`.

    Raises:
        KeyboardInterrupt: If the user pressed Ctrl-C, and no answer could be marked.
    """
    return run_workers(starts, _together)


def run_workers(starts: Sequence[Start], conduct: Callable[[Sequence[Start], list[Listener]], None]) -> list[Answer]:
    """Runs jobs as `launch_together` does, but in an order of its own.

    Args:
        starts: Workers to start.
        conduct: Function that starts the workers, adds each to the list, and listens to them to their ends.
    """
    workers: list[Listener] = []
    answers: list[Answer] = []
    interrupted, process = False, os.getpid()
    try:
        try:
            conduct(starts, workers)
        except KeyboardInterrupt:
            interrupted = True
            for worker in workers:
                worker.stop("interrupted", "interrupted")
            follow(workers)
    finally:
        # A fork that ends here, such as one of a function for progress, leaves the workers of its parent alone.
        if os.getpid() == process:
            answers += [worker.end() for worker in workers]
    answers += [Answer({}, "interrupted", "interrupted", "")] * (len(starts) - len(answers))
    if interrupted and not any(answer.ended == "interrupted" for answer in answers):
        # All workers had answered, or were stopped for another reason, so that no answer records the interrupt.
        raise KeyboardInterrupt
    return answers


def _together(starts: Sequence[Start], workers: list[Listener]) -> None:
    for start in starts:
        workers.append(start.listener())
        workers[-1].tell(start.encode_job())
    follow(workers)


def follow(workers: Sequence[Listener]) -> None:
    """Listens to workers until none of them can send anything more."""
    while waiting := [worker for worker in workers if not worker.done]:
        for worker in waiting:
            paused = worker.listen(_GLANCE_S if len(waiting) > 1 else math.inf)
            for other in waiting:
                if other is not worker:
                    other.extend(paused)
