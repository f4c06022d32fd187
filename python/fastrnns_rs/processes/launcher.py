"""Launcher of worker processes: starts, follows and cleans up after them."""

from __future__ import annotations

import atexit
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from fastrnns_rs.processes.listener import Answer, Listener, Terms

#: Variable set in every worker: a runner's file that calls `bench` on import would start workers without end.
MARK = "FASTRNNS_WORKER"
#: Time in seconds that one of several workers is listened to before the next.
_GLANCE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Settings of a worker's process.

    Attributes:
        threads: Number of threads that its numeric libraries may start; None for their defaults.
        affinity: CPUs that the worker may use; None for those of this process.
        python: Path of the interpreter; None for that of this process. Another interpreter has its own torch, and gets
            only this package from here.
        variables: Environment variables in addition to those of this process.
    """

    threads: int | None = None
    affinity: tuple[int, ...] | None = None
    python: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Returns all environment variables of the worker."""
        found = {**os.environ, **self.variables, MARK: "1"}
        if self.threads is not None:
            found.update(OMP_NUM_THREADS=str(self.threads), MKL_NUM_THREADS=str(self.threads))
        if self.python is not None:
            # Our folder may hold a torch too, and the current PYTHONPATH is for our interpreter.
            found.pop("PYTHONHOME", None)
            found["PYTHONPATH"] = os.pathsep.join([_lent(), *self._folders()])
        return found

    def sys_path(self) -> list[str] | None:
        """Returns the worker's module search path; None for that of its interpreter."""
        return (
            None if self.python is not None else [*self._folders(), *(one for one in sys.path if isinstance(one, str))]
        )

    def _folders(self) -> list[str]:
        """Returns the module folders for this worker only, which may hold another torch."""
        return [os.path.abspath(one) for one in self.variables.get("PYTHONPATH", "").split(os.pathsep) if one]  # noqa: PTH100


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

    def told(self) -> str:
        """Returns the line that the worker reads first."""
        return json.dumps({**self.job, "sys_path": self.setting.sys_path(), "affinity": self.setting.affinity})


#: Function that runs workers at the same time and returns their answers: `launch_together`, or that of a test.
Executor: TypeAlias = Callable[[Sequence[Start]], list[Answer]]


def _command(setting: Setting) -> list[str]:
    # -P: modules in the working directory must not hide the standard library from the worker.
    return [setting.python or sys.executable, "-P", "-m", "fastrnns_rs.worker"]


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
    workers: list[Listener] = []
    answers: list[Answer] = []
    interrupted = False
    try:
        try:
            for start in starts:
                workers.append(start.listener())
                workers[-1].tell(start.told())
            _follow(workers)
        except KeyboardInterrupt:
            interrupted = True
            for worker in workers:
                worker.stop("interrupted", "interrupted")
            _follow(workers)
    finally:
        answers += [worker.end() for worker in workers]
    answers += [Answer({}, "interrupted", "interrupted", "")] * (len(starts) - len(answers))
    if interrupted and not any(answer.ended == "interrupted" for answer in answers):
        # All workers had answered, or were stopped for another reason, so that no answer records the interrupt.
        raise KeyboardInterrupt
    return answers


def _follow(workers: Sequence[Listener]) -> None:
    """Listens to workers until none of them can send anything more."""
    while waiting := [worker for worker in workers if not worker.done]:
        for worker in waiting:
            worker.listen(_GLANCE_S if len(waiting) > 1 else math.inf)


@cache
def _lent() -> str:
    """Returns a folder with only this package, for interpreters with other packages."""
    folder = tempfile.mkdtemp(prefix="fastrnns-rs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = Path(__file__).parent.parent
    (Path(folder) / package.name).symlink_to(package, target_is_directory=True)
    return folder
