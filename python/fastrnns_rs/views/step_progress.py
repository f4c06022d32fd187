"""Progress of steps.

Their durations are estimated from those of finished steps.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from fastrnns_rs.views.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from fastrnns_rs.views.progress import Audience

#: Kind of the import of torch.
IMPORT = "import"
#: First words of kinds that take much longer than others, and say nothing about them.
_ALONE = {IMPORT, "compile"}
#: Width of most labels. The bar and the time left keep their places.
_LABEL = 26


class StepProgress:
    """Progress of steps of several kinds, for a `with` block.

    Args:
        verb: Name of the command.
        intent: Amount of work for the first line, as `3 runners`.
        noun: Plural noun of the steps.
        shown: False shows nothing.
        ascii_only: True uses ASCII characters only.
        notes: False drops notes too.
        stream: Stream to write to; None for stderr.
        audience: Notebook or function that gets the progress; None for a stream.
        clock: Function that returns seconds.

    Attributes:
        progress: Bar or lines.
    """

    def __init__(
        self,
        verb: str,
        intent: str,
        *,
        noun: str,
        shown: bool = True,
        ascii_only: bool = False,
        notes: bool = True,
        stream: TextIO | None = None,
        audience: Audience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._notes = notes
        self._kinds: Sequence[str] = ()
        self._durations: dict[str, list[float]] = {}
        self._begin = clock()
        self.progress = Progress(
            verb, intent, noun=noun, shown=shown, stream=stream, ascii_only=ascii_only, audience=audience
        )
        self.progress.time_left(self._time_left)

    def __enter__(self) -> Self:
        self.progress.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.close()

    def plan(self, kinds: Sequence[str], done: int = 0) -> None:
        """Sets the steps.

        Args:
            kinds: Kind of each step. Steps of a kind take about the same time. Kinds with the same first word take
                similar times.
            done: Number of steps that are finished, which are no measure of the others.
        """
        self._kinds = tuple(kinds)
        self.progress.total = len(kinds)
        self.progress.done = done
        self._begin = self._clock()

    def reach(self, done: int, label: str) -> None:
        """Begins a step.

        The time until now counts for the steps since the last call. If the same step begins again, that time was a
        preparation and counts for no step.

        Args:
            done: Number of finished steps.
            label: Name of the step.
        """
        now = self._clock()
        finished = self._kinds[self.progress.done : done]
        for kind in finished:
            self._durations.setdefault(kind, []).append((now - self._begin) / len(finished))
        self.progress.done = max(self.progress.done, done)
        self._begin = now
        self.progress.step(label, _LABEL)

    def watch(self, refresh: Callable[[], None]) -> None:
        """Sets a function that is called before each drawing.

        The function looks for steps that are not reported as they begin.
        """
        self.progress.before(refresh)

    def label(self, text: str) -> None:
        """Shows a phase of the running step."""
        self.progress.step(text, _LABEL)

    def note(self, text: str) -> None:
        """Writes a line about an unusual event, without progress too."""
        if self._notes:
            self.progress.write(text)

    def _time_left(self) -> float | None:
        remaining = self._kinds[self.progress.done :]
        # There are a few kinds, and thousands of steps.
        expected = {kind: self._expected(kind) for kind in dict.fromkeys(remaining)}
        times = [expected[kind] for kind in remaining]
        known = [one for one in times if one is not None]
        if not remaining or len(known) < len(times):
            return None
        # A step that takes longer than expected does not shorten the others.
        return sum(known[1:]) + max(known[0] - (self._clock() - self._begin), 0.0)

    def _expected(self, kind: str) -> float | None:
        """Returns the mean time of a kind, or of similar kinds.

        Without similar kinds, it is the mean of all kinds but imports and compilations.
        """
        # The thread that draws calls this while another thread adds durations.
        durations = dict(self._durations)
        same = [one for one in durations if one == kind]
        similar = [one for one in durations if one.partition(" ")[0] == kind.partition(" ")[0]]
        others = [one for one in durations if one.partition(" ")[0] not in _ALONE]
        known = [seconds for one in same or similar or others for seconds in durations[one]]
        return sum(known) / len(known) if known else None
