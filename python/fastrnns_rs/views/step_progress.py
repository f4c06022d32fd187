"""Progress of a list of steps, whose durations are estimated from those of finished steps."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Self

from fastrnns_rs.views.progress import Progress, TimeLeft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

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
        stream: Stream to write to; None for stderr.
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
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._kinds: Sequence[str] = ()
        self._estimate = TimeLeft()
        self._begin = clock()
        self.progress = Progress(verb, intent, noun=noun, shown=shown, stream=stream, ascii_only=ascii_only)
        self.progress.time_left(self._time_left)

    def __enter__(self) -> Self:
        self.progress.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.close()

    def plan(self, kinds: Sequence[str], done: int = 0) -> None:
        """Sets the steps.

        Args:
            kinds: Kind of each step. Steps of a kind take about the same time.
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
            self._estimate.add(kind, (now - self._begin) / len(finished))
        self.progress.done = max(self.progress.done, done)
        self._begin = now
        self.progress.step(label, _LABEL)

    def label(self, text: str) -> None:
        """Shows a phase of the running step."""
        self.progress.step(text, _LABEL)

    def note(self, text: str) -> None:
        """Writes a line about an unusual event."""
        self.progress.write(text)

    def _time_left(self) -> float | None:
        remaining = self._kinds[self.progress.done :]
        if not remaining:
            return None
        # A step that takes longer than expected does not shorten the others.
        running = self._estimate.estimate({remaining[0]: 1}, self._clock() - self._begin)
        others = self._estimate.estimate(Counter(remaining[1:]))
        return None if running is None or others is None else running + others
