"""Starts worker processes, follows them and sees to it that nothing of them stays behind."""

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

#: Set in every worker: a runner's file that benches when it is imported would start workers without end.
MARK = "FASTRNNS_WORKER"
#: How long one of several workers is listened to before the next.
_GLANCE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a worker runs in.

    Attributes:
        threads: How many threads its numeric libraries may start; None leaves that to them.
        affinity: The CPUs that it may use; None for those of this process.
        python: The interpreter; None for the one that runs this. Another has a torch of its own, and is lent this
            package alone.
        variables: Environment variables beside those of this process.
    """

    threads: int | None = None
    affinity: tuple[int, ...] | None = None
    python: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Every environment variable of the worker."""
        found = {**os.environ, **self.variables, MARK: "1"}
        if self.threads is not None:
            found.update(OMP_NUM_THREADS=str(self.threads), MKL_NUM_THREADS=str(self.threads))
        if self.python is not None:
            # Our folder may hold a torch too. Not PYTHONPATH as it is: that is for our interpreter.
            found.pop("PYTHONHOME", None)
            found["PYTHONPATH"] = os.pathsep.join([_lent(), *self._folders()])
        return found

    def sys_path(self) -> list[str] | None:
        """Where the worker looks for modules; None for where its interpreter does."""
        return (
            None if self.python is not None else [*self._folders(), *(one for one in sys.path if isinstance(one, str))]
        )

    def _folders(self) -> list[str]:
        """The folders of modules that are given for this worker alone, which may hold another torch."""
        return [os.path.abspath(one) for one in self.variables.get("PYTHONPATH", "").split(os.pathsep) if one]  # noqa: PTH100


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A worker that is to be started.

    Attributes:
        job: What it reads; see `fastrnns_rs.worker`.
        terms: How long it may take, and who is told what it says.
        setting: What it runs in; by default as this process.
    """

    job: dict[str, Any]
    terms: Terms
    setting: Setting = field(default_factory=Setting)

    def listener(self) -> Listener:
        """Starts it."""
        return Listener(_command(self.setting), self.setting.environment(), self.terms)

    def told(self) -> str:
        """The line that it reads first."""
        return json.dumps({**self.job, "sys_path": self.setting.sys_path(), "affinity": self.setting.affinity})


#: Runs workers at the same time and returns their answers: `launch_together`, or a test's own.
Executor: TypeAlias = Callable[[Sequence[Start]], list[Answer]]


def _command(setting: Setting) -> list[str]:
    # -P: the folder one happens to stand in must not hide the standard library from the worker.
    return [setting.python or sys.executable, "-P", "-m", "fastrnns_rs.worker"]


def launch(start: Start) -> Answer:
    """Runs a job in a fresh interpreter.

    Returns:
        Its answer. On Ctrl-C this is what it had measured, marked `interrupted`.

    Raises:
        KeyboardInterrupt: Ctrl-C, when it had answered or was out of time.
    """
    return launch_together([start])[0]


def launch_together(starts: Sequence[Start]) -> list[Answer]:
    """Runs jobs at the same time, each in a fresh interpreter of its own.

    Returns:
        Their answers. On Ctrl-C those that had not answered are marked `interrupted`.

    Raises:
        KeyboardInterrupt: Ctrl-C, when there was none to be marked.
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
        # All had answered, or were told to stop for another reason: nobody else would hear of it.
        raise KeyboardInterrupt
    return answers


def _follow(workers: Sequence[Listener]) -> None:
    """Listens until nothing more is to come of any of them."""
    while waiting := [worker for worker in workers if not worker.done]:
        for worker in waiting:
            worker.listen(_GLANCE_S if len(waiting) > 1 else math.inf)


@cache
def _lent() -> str:
    """A folder with this package and nothing else, for interpreters that have other packages."""
    folder = tempfile.mkdtemp(prefix="fastrnns-rs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = Path(__file__).parent.parent
    (Path(folder) / package.name).symlink_to(package, target_is_directory=True)
    return folder
