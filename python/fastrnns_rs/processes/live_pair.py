"""Live workers that take turns, for measurements under equal conditions."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.processes.launcher import Start, follow, run_workers
from fastrnns_rs.processes.phases import END, TURN

if TYPE_CHECKING:
    from fastrnns_rs.processes.listener import Answer, Listener


class LivePair:
    """Executor of pairs of workers that take turns.

    The second worker starts when the first waits for its turn. Then each has the same number of turns: one turn of each
    worker after the other, in random order. Only one of them runs at any time. A worker that ends early ends the other
    one after its next turn.

    Args:
        turns: Largest number of turns of each worker.
        least: Minimum number of turns of each worker.
        seconds: Time of both workers together, in seconds, after which no further turn begins.
        seed: Seed of all orders.
    """

    def __init__(self, turns: int, *, least: int, seconds: float, seed: int) -> None:
        self._turns = turns
        self._least = least
        self._seconds = seconds
        # A text gives the same seed in every process, whatever the hash seed is.
        self._chance = random.Random(f"{seed}:live")  # noqa: S311  # an order, not a secret

    def __call__(self, starts: Sequence[Start]) -> list[Answer]:
        """Runs the workers, and returns their answers.

        Raises:
            KeyboardInterrupt: If the user pressed Ctrl-C, and no answer could be marked.
        """
        order = self._chance.sample(range(len(starts)), len(starts))
        answers = run_workers([starts[place] for place in order], self._conduct)
        return [_explained(answers[order.index(place)]) for place in range(len(starts))]

    def _conduct(self, starts: Sequence[Start], workers: list[Listener]) -> None:
        waiting: dict[int, float] = {}
        for place, start in enumerate(starts):
            workers.append(_with_waiting(start, place, waiting).listener())
            workers[-1].tell(start.encode_job())
            self._listen(workers, place, waiting)
        end = time.monotonic() + self._seconds
        for done in range(self._turns):
            if done >= self._least and time.monotonic() > end:
                break
            for place in self._chance.sample(range(len(workers)), len(workers)):
                _resume(workers[place], waiting.pop(place, None), TURN)
                self._listen(workers, place, waiting)
            if any(worker.done for worker in workers):
                break
        for place, worker in enumerate(workers):
            _resume(worker, waiting.pop(place, None), END)
        follow(workers)

    @staticmethod
    def _listen(workers: Sequence[Listener], place: int, waiting: dict[int, float]) -> None:
        workers[place].listen(math.inf, lambda: place in waiting)


def _resume(worker: Listener, since: float | None, word: str) -> None:
    """Sends a word to a worker, and extends its time limits by its waiting.

    Args:
        worker: Worker.
        since: Begin of its waiting, by `time.monotonic`; None if it does not wait.
        word: `TURN` or `END`.
    """
    if since is not None:
        worker.extend(time.monotonic() - since)
    worker.tell(word)


def _explained(answer: Answer) -> Answer:
    """Returns an answer whose lack of memory names the pair as a cause."""
    if answer.reason is None or not answer.reason.startswith("out of memory"):
        return answer
    return replace(answer, reason=f"{answer.reason}; --live needs memory for both sides at once")


def _with_waiting(start: Start, place: int, waiting: dict[int, float]) -> Start:
    """Returns a start whose worker is in `waiting` while it waits for its turn.

    The value is the time at which it began to wait.
    """
    on_phase = start.terms.on_phase

    def hear(name: str) -> None:
        if name == TURN:
            waiting.setdefault(place, time.monotonic())
        else:
            on_phase(name)

    return replace(start, terms=replace(start.terms, on_phase=hear))
