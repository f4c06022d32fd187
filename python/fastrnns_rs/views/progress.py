"""Progress of long work on stderr.

A terminal shows a bar. Elsewhere a line is written from time to time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import screen
from fastrnns_rs.views.figures import clock, span
from fastrnns_rs.views.live_region import LiveRegion
from fastrnns_rs.views.output_stream import terminal_width
from fastrnns_rs.views.prose import WIDTH, wrapped
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.table import fit
from fastrnns_rs.views.text import pad, width

if TYPE_CHECKING:
    from typing import TextIO

_BAR, _LEAST_BAR = 40, 10
_FULL, _EMPTY = "━", "─"
_GAP = "  "
#: Time between two lines where stderr is not a terminal, in seconds.
_EVERY_S = 15.0
#: Time between two drawings in a notebook, in seconds.
_DRAWN_EVERY_S = 0.5


class TimeLeft:
    """Estimate of the remaining time from the durations of finished steps.

    Args:
        first_guess_s: Duration of a step before any step has finished, in seconds; None if unknown.
    """

    def __init__(self, first_guess_s: float | None = None) -> None:
        self._guess = first_guess_s
        self._durations: dict[str, list[float]] = {}

    def add(self, kind: str, seconds: float) -> None:
        """Adds the duration of a finished step."""
        self._durations.setdefault(kind, []).append(seconds)

    def estimate(self, remaining: dict[str, int], running_s: float = 0.0) -> float | None:
        """Returns the remaining seconds, or None if unknown.

        Args:
            remaining: Number of unfinished steps of each kind, including the running step.
            running_s: Time since the start of the running step, in seconds.
        """
        # The thread that draws calls this while another thread adds durations.
        by_kind = dict(self._durations)
        known = [one for durations in by_kind.values() for one in durations]
        typical = sum(known) / len(known) if known else self._guess
        if typical is None:
            return None
        each = {kind: sum(found) / len(found) for kind, found in by_kind.items()}
        total = sum(count * each.get(kind, typical) for kind, count in remaining.items())
        return max(total - running_s, 0.0)


def bar_line(done: int, total: int | None, label: str, left_s: float | None, limit: int, label_width: int = 0) -> str:
    """Returns the line with the bar, the counts, the running step and the time left.

    Args:
        done: Number of finished steps.
        total: Number of all steps; None if unknown.
        label: Running step.
        left_s: Remaining time in seconds; None if unknown.
        limit: Width of the terminal.
        label_width: Least width of the label, so that the time does not move.
    """
    # At the start neither the number of steps nor the first step may be known.
    counts = _counts(done, total) if total is not None or done else ""
    label = label or ("" if counts else "starting")
    left = "" if left_s is None else f"{clock(left_s)} left"
    label = visible(label)
    others = width(counts) + 2 * len(_GAP) + (len(left) + len(_GAP) if left else 0)
    bar = ""
    if total:
        room = limit - others - max(width(label), label_width)
        length = min(_BAR, room) if room >= _LEAST_BAR else 0
        full = min(length, length * done // total)
        bar = _FULL * full + _EMPTY * (length - full)
    room = limit - others - len(bar)
    label = pad(fit(label, max(room, 1)), min(label_width, room)) if left else fit(label, max(room, 1))
    return _GAP.join(part for part in (bar, counts, label, left) if part).rstrip()


def _counts(done: int, total: int | None) -> str:
    return f"{done:,} done" if total is None else f"{done:>{len(f'{total:,}')},} of {total:,}"


def text_line(verb: str, done: int, total: int | None, noun: str, left_s: float | None, label: str = "") -> str:
    """Returns the progress as a sentence, for a stream that is not a terminal.

    Args:
        verb: Name of the command.
        done: Number of finished steps.
        total: Number of all steps; None if unknown.
        noun: Plural noun of the steps.
        left_s: Remaining time in seconds; None if unknown.
        label: Running step, which the line names if the time is unknown.
    """
    of = "" if total is None else f" of {total:,}"
    about = f", about {span(left_s)} left" if left_s else f", {label}" if label else ""
    return f"{verb}: {done:,}{of} {noun}{about}"


@dataclass(frozen=True, slots=True)
class Audience:
    """Reader of the progress other than a stream.

    Attributes:
        is_notebook: True for a notebook, which draws a line again after a carriage return.
        listener: Function that is called with the number of finished steps, the number of all steps or None, and the
            running step; None for no function.
    """

    is_notebook: bool = False
    listener: Callable[[int, int | None, str], object] | None = None


class Progress:
    """Progress of steps, for a `with` block.

    On a terminal a region at the bottom shows a table above a bar. The region disappears at the end of the block.
    A notebook shows the bar alone, which disappears too. Elsewhere a line is written at the start, and then at most one
    every 15 seconds.

    Args:
        verb: Name of the command, which begins each line.
        intent: Amount of work for the first line, as `3 runners, 15 processes`; empty for no such line.
        noun: Plural noun of the steps.
        total: Number of steps; None if unknown.
        above: Function that returns the lines above the bar for a number of lines; None for no such lines.
        shown: False shows nothing.
        stream: Stream to write to; None for stderr.
        ascii_only: True uses ASCII characters only.
        audience: Notebook or function that gets the progress; None for a stream.
    """

    def __init__(
        self,
        verb: str,
        intent: str,
        *,
        noun: str = "processes",
        total: int | None = None,
        above: Callable[[int], Sequence[Line]] | None = None,
        shown: bool = True,
        stream: TextIO | None = None,
        ascii_only: bool = False,
        audience: Audience | None = None,
    ) -> None:
        self._audience = audience or Audience()
        self._drawn = ""
        self._verb, self._noun = verb, noun
        self._intent = intent
        self._stream = stream or sys.stderr
        self._shown = shown and (self._stream is not None or self._audience.listener is not None)
        self._above = above
        self._ascii = ascii_only
        self._region: LiveRegion | None = None
        self._label = ""
        self._label_width = 0
        self._over = threading.Event()
        # An interrupt may end the progress while the same thread draws.
        self._lock = threading.RLock()
        self._left: Callable[[], float | None] = lambda: None
        self._refresh: Callable[[], None] = lambda: None
        self.done = 0
        self.total = total

    def __enter__(self) -> Self:
        if not self._shown or self._audience.listener is not None:
            return self
        if self._audience.is_notebook:
            self._draw_bar()
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._draw_often, daemon=True).start()
        elif self._stream.isatty() and os.environ.get("TERM") != "dumb":
            self._begin_region()
        else:
            if self._intent:
                self.write(f"{self._verb}: {self._intent}")
            # The system may refuse another thread. The work goes on without further lines.
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._tell_often, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def time_left(self, left: Callable[[], float | None]) -> None:
        """Sets the function that returns the remaining seconds, or None if unknown."""
        self._left = left

    def before(self, refresh: Callable[[], None]) -> None:
        """Sets a function that is called before each drawing, and may change the step."""
        self._refresh = refresh

    def step(self, label: str, label_width: int = 0) -> None:
        """Shows the running step.

        Args:
            label: Name of the step.
            label_width: Least width of the label.
        """
        self._label, self._label_width = label, label_width
        self._report()

    def advance(self) -> None:
        """Counts a finished step."""
        self.done += 1
        self._report()

    def note(self, text: str) -> None:
        """Writes a line about a long pause.

        A terminal shows the running step instead.
        """
        if self._shown and self._region is None and not self._audience.is_notebook:
            self.write(f"{self._verb}: {text}")

    def line(self) -> str:
        """Returns the line for a stream that is not a terminal."""
        self._refresh()
        return text_line(self._verb, self.done, self.total, self._noun, self._left(), self._label)

    def write(self, text: str) -> None:
        """Writes a line, above the region if there is one."""
        if self._audience.listener is not None:
            return
        # A closed stderr must not stop the work.
        with contextlib.suppress(OSError, ValueError):
            self._erase_bar()
            if self._region is None:
                print(visible(text), file=self._stream, flush=True)
            else:
                self._region.write("\n".join(wrapped(visible(text), terminal_width(self._stream))))

    def close(self) -> None:
        """Removes the region."""
        self._over.set()
        region, self._region = self._region, None
        with contextlib.suppress(OSError, ValueError):
            if region is not None:
                region.stop()
            self._erase_bar()

    def frame(self, limit: int, height: int) -> str:
        """Returns the text of the region.

        Args:
            limit: Width of the terminal.
            height: Height of the terminal.
        """
        self._refresh()
        bar = Line(bar_line(self.done, self.total, self._label, self._left(), limit, self._label_width))
        above = [] if self._above is None else [*self._above(height - 3), Line("")]
        return screen.drawn([*above, bar], ascii_only=self._ascii, limit=limit)

    def _tell_often(self) -> None:
        while not self._over.wait(_EVERY_S):
            self.write(self.line())

    def _report(self) -> None:
        if self._shown and self._audience.listener is not None:
            self._audience.listener(self.done, self.total, self._label)

    def _draw_often(self) -> None:
        while not self._over.wait(_DRAWN_EVERY_S):
            self._draw_bar()

    def _draw_bar(self) -> None:
        """Draws the bar of a notebook over the bar before."""
        with contextlib.suppress(OSError, ValueError), self._lock:
            if self._over.is_set():
                return
            text = self.frame(WIDTH, 1).rstrip("\n").rpartition("\n")[2]
            self._stream.write(f"\r{text}{' ' * max(width(self._drawn) - width(text), 0)}")
            self._stream.flush()
            self._drawn = text

    def _erase_bar(self) -> None:
        with self._lock:
            if self._drawn:
                self._stream.write(f"\r{' ' * width(self._drawn)}\r")
                self._stream.flush()
                self._drawn = ""

    def _begin_region(self) -> None:
        self._region = LiveRegion(self._stream, self._cropped_frame)
        # The region is drawn by a thread, which the system may refuse.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            self._region.start()

    def _cropped_frame(self, columns: int, rows: int) -> str:
        """Returns the text of the region; a bar alone is no wider than a page of text."""
        return self.frame(min(columns, WIDTH) if self._above is None else columns, rows)
