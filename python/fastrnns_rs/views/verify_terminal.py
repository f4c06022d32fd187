"""Progress of `verify`: the running runner and its step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.views.step_progress import StepProgress

_IMPORT = "importing torch"
#: Steps with a plainer name on the screen.
_STEPS = {"reference": "computing the reference", "build": "building the model"}


class VerifyTerminal:
    """Observer of a verification that shows its progress.

    Args:
        progress: Progress to show.
        names: Runners as requested.
    """

    def __init__(self, progress: StepProgress, names: Sequence[str]) -> None:
        self._progress = progress
        self._names = tuple(names)
        self._name = ""
        progress.plan(self._names)

    def plans(self, names: Sequence[str], done: int) -> None:
        """Shows the number of runners."""
        self._names = tuple(names)
        # The runners that cannot be checked take no time.
        self._progress.plan(self._names, done)

    def imports(self) -> None:
        """Shows that a process imports torch."""
        self._progress.label(_IMPORT)

    def runner_begins(self, name: str, done: int) -> None:
        """Shows the runner."""
        self._name = name
        self._progress.reach(done, name)

    def step_begins(self, step: str) -> None:
        """Shows the step of the runner."""
        self._progress.label(f"{self._name}: {_STEPS.get(step, step)}")
