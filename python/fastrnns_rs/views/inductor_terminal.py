"""Progress of `inductor`: the running module and its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.processes import phases
from fastrnns_rs.views.bench_terminal import PHASES
from fastrnns_rs.views.step_progress import IMPORT

if TYPE_CHECKING:
    from fastrnns_rs.views.step_progress import StepProgress

#: Steps of a module with a plainer name on the screen.
_STEPS = {
    phases.IMPORT: PHASES[phases.IMPORT],
    "load": "loading and first call",
    "time": "timing",
    "profile": "timing under torch.profiler",
    "memory snapshot": "recording allocations",
    "kernels": "timing kernels",
    "report": "reading the results",
}


class InductorTerminal:
    """Observer of compilations and measurements that shows their progress.

    Args:
        progress: Progress to show.
        runners: Runners to compile.
        modules: Number of modules that are known, or expected from the runners.
        processes: Number of processes per module.
        extras: Steps that the first process of a module makes in addition: `profile`, `memory snapshot`, `kernels`.
    """

    def __init__(
        self,
        progress: StepProgress,
        *,
        runners: Sequence[str],
        modules: int,
        processes: int = 1,
        extras: Sequence[str] = (),
    ) -> None:
        self._progress = progress
        self._runners = runners
        self._name = ""
        self._process = 0
        self._module = -1
        # Each process loads and times the module.
        self._steps = ["load", "time", *extras, *["load", "time"] * (processes - 1), "report"]
        self._progress.plan([*self._kinds(modules)])
        progress.label(_STEPS[phases.IMPORT])

    def _kinds(self, modules: int) -> Iterator[str]:
        yield IMPORT
        yield from (f"compile {name}" for name in self._runners)
        for _ in range(modules):
            yield from self._steps

    def compiles(self, name: str, done: int, of: int) -> None:  # noqa: ARG002
        """Shows the runner that is compiled."""
        self._name = name
        self._progress.reach(1 + done, f"{name}: {_STEPS[phases.IMPORT]}")

    def phase(self, name: str) -> None:
        """Shows the phase of the compilation."""
        self._progress.label(f"{self._name}: {PHASES.get(name, name)}")

    def finds(self, modules: int) -> None:
        """Shows the number of steps, once the runners are compiled."""
        self._progress.reach(1 + len(self._runners), _STEPS[phases.IMPORT])
        self._progress.plan([*self._kinds(modules)], done=1 + len(self._runners))

    def step(self, module: str, step: str, done: int) -> None:
        """Shows the step of a module.

        Args:
            module: Name of the module.
            step: Name of the step; after a colon, its details.
            done: Number of finished modules.
        """
        name, _, details = step.partition(":")
        if done != self._module:
            self._module, self._process = done, 0
        text = f"{module}: {_STEPS.get(name, name)}{details and ','}{details}"
        places = [place for place, one in enumerate(self._steps) if one == name]
        if name == "load":
            self._process += 1
        if not places or details:
            self._progress.label(text)
            return
        place = places[min(max(self._process, 1), len(places)) - 1]
        self._progress.reach(1 + len(self._runners) + done * len(self._steps) + place, text)
