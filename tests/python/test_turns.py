"""Slices of a live process, by a clock that the test holds."""

from __future__ import annotations

from queue import SimpleQueue

import pytest

from fastrnns_rs.processes.phases import END, TURN
from fastrnns_rs.worker.turns import Slices, Turns


class Machine:
    """Runs a loop whose parent gives a number of turns; an iteration takes `seconds`, the first one `first`."""

    def __init__(self, turns: int, seconds: float, *, first: float | None = None, capacity: int = 2000) -> None:
        self.now = 0.0
        self.count = 0
        self.waits: list[int] = []
        self.refilling: set[int] = set()
        words: SimpleQueue[str] = SimpleQueue()
        for word in [TURN] * turns + [END]:
            words.put(word)
        loop = Turns(
            Slices(count=turns, seconds=0.1),
            capacity,
            words,
            lambda _name: self.waits.append(self.count),
            clock=lambda: self.now,
        )
        while more := loop.next(self.count, lambda: [[]]):
            for _ in range(more):
                self.now += seconds if first is None or self.count else first
                self.count += 1
            assert self.count <= capacity
        self.refilling = loop.refilling


@pytest.mark.parametrize("seconds", [0.0004, 0.004, 0.03])
def test_each_turn_takes_about_its_time(seconds: float) -> None:
    done = Machine(10, seconds)
    slices = [after - before for before, after in zip(done.waits, done.waits[1:], strict=False)]
    assert len(slices) == 10
    expected = max(min(round(0.1 / seconds), 200), 4)
    assert all(0.5 * expected <= one <= 1.5 * expected + 1 for one in slices), slices


def test_the_first_iteration_of_each_later_turn_is_no_sample() -> None:
    done = Machine(5, 0.01)
    assert done.refilling == {*done.waits[1:-1]}
    assert len(done.refilling) == 4


def test_slow_iterations_leave_a_sample_in_each_turn() -> None:
    done = Machine(3, 0.5, first=30.0)
    assert done.waits == [0, 4, 8, 12]


def test_the_loop_never_exceeds_its_capacity() -> None:
    assert Machine(10, 0.00001, capacity=100).count <= 100
    assert Machine(10, 0.00001, capacity=3).count <= 3


def test_the_parent_can_end_the_loop_before_its_first_turn() -> None:
    assert Machine(0 + 1, 0.01).count > 0
    words: SimpleQueue[str] = SimpleQueue()
    words.put(END)
    assert Turns(Slices(count=10, seconds=0.1), 100, words, lambda _name: None).next(0, lambda: [[]]) == 0
