"""How long a process's loop runs, and which of its iterations count, by a clock that the test holds."""

from __future__ import annotations

import math
import random

import pytest

from fastrnns_rs.problem.loop import LEAST_ITERATIONS, Loop
from fastrnns_rs.worker.pacing import Pace, timed_part


class Machine:
    """Runs what a pace asks for; an iteration takes as long as `durations` says, in seconds."""

    def __init__(self, durations: list[float]) -> None:
        self.now = 1000.0
        self.samples: list[int] = []
        self._durations = durations
        self.asked: list[int] = []

    def run(self, loop: Loop) -> list[int]:
        pace = Pace(loop, clock=lambda: self.now)
        while count := pace.next(len(self.samples), lambda: [self.samples]):
            self.asked.append(count)
            for _ in range(count):
                duration = self._durations[min(len(self.samples), len(self._durations) - 1)]
                self.now += duration
                self.samples.append(round(duration * 1e9))
            assert len(self.samples) <= loop.capacity
        return self.samples


def noisy(level: float, count: int, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [level * math.exp(chance.gauss(0, 0.01)) for _ in range(count)]


@pytest.mark.parametrize(("warmup", "nloops"), [(1, 1), (5, 20), (10, 100)])
def test_exact_counts_are_exact_however_long_they_take(warmup: int, nloops: int) -> None:
    loop = Loop(warmup=warmup, nloops=nloops, seconds=0.001)
    samples = Machine([7.0]).run(loop)
    assert len(samples) == warmup + nloops == loop.capacity
    assert timed_part(loop, [samples]).steady_from == warmup


def test_the_first_call_is_never_a_sample() -> None:
    """Without a warm-up the first call comes before the timed iterations, and all of those are timed."""
    loop = Loop(warmup=0, nloops=6, seconds=1.0)
    samples = Machine([9.0, 0.001]).run(loop)
    part = timed_part(loop, [samples])
    assert len(samples) == 7
    assert len(samples[part.steady_from :]) == 6
    assert max(samples[part.steady_from :]) == 1_000_000


@pytest.mark.parametrize("each", [0.0001, 0.002, 0.03])
def test_time_ends_a_loop_and_the_first_call_takes_none_of_it(each: float) -> None:
    loop = Loop(warmup=None, nloops=None, seconds=0.5, most=100_000)
    machine = Machine([60.0, *noisy(each, 20_000)])
    samples = machine.run(loop)
    assert sum(samples[1:]) / 1e9 == pytest.approx(0.5, rel=0.1)
    assert len(machine.asked) < 30


def test_a_slow_model_has_its_least_number_of_iterations_and_a_quick_one_its_most() -> None:
    loop = Loop(warmup=None, nloops=None, seconds=0.5, most=200)
    assert len(Machine(noisy(0.4, 30)).run(loop)) == 1 + LEAST_ITERATIONS
    # One that takes seconds is not waited for.
    assert len(Machine(noisy(2.0, 30)).run(loop)) == 1 + 3
    assert len(Machine(noisy(60.0, 30)).run(loop)) == 1 + 3
    assert len(Machine(noisy(1e-6, 500)).run(loop)) == 1 + 200


@pytest.mark.parametrize("compiling", [(3.17, 0.139, 2.32), (3.17, 2.32, 0.139), (0.139, 3.17, 2.32), (4.0, 4.0)])
def test_iterations_that_compile_take_none_of_the_time(compiling: tuple[float, ...]) -> None:
    """The first are times of `jit` on a GPU: TorchScript compiles for longer than the loop lasts."""
    usual = 0.0178
    samples = Machine([1.97, *compiling, *noisy(usual, 2000)]).run(Loop(warmup=None, nloops=None, seconds=1.0))
    part = timed_part(Loop(warmup=None, nloops=None, seconds=1.0), [samples])
    timed = samples[part.steady_from :]
    assert len(timed) > 30
    assert max(timed) / 1e9 == pytest.approx(usual, rel=0.1)


@pytest.mark.parametrize("slow", [0.5, 1.0])
def test_a_few_slow_iterations_do_not_make_the_loop_longer(slow: float) -> None:
    machine = Machine([1.0, *[0.01, 0.01, slow] * 200])
    machine.run(Loop(warmup=None, nloops=None, seconds=2.0))
    assert machine.now - 1000 < 1 + 2 * 2 + 2 * slow


def test_a_warmup_whose_length_is_given_takes_none_of_the_time() -> None:
    loop = Loop(warmup=50, nloops=None, seconds=2.0)
    assert len(Machine(noisy(1.0, 200)).run(loop)) in {55, 56}
    assert len(Machine(noisy(0.01, 1000)).run(loop)) == pytest.approx(50 + 200, rel=0.1)


def test_a_warmup_is_found_and_what_came_before_it_does_not_count() -> None:
    loop = Loop(warmup=None, nloops=None, seconds=1.0)
    samples = Machine([1.0, *noisy(0.010, 30, seed=3), *noisy(0.005, 400, seed=4)]).run(loop)
    part = timed_part(loop, [samples])
    assert part.classification == "warmup"
    assert part.starts_steady
    assert 31 <= part.steady_from <= 34
    assert timed_part(loop, [samples[:1] + samples[40:]]).classification == "flat"


def test_who_is_not_steady_at_the_end_goes_on_once() -> None:
    """A shift near the end leaves too little of the last level; twice the time shows enough of it."""
    durations = [1.0, *noisy(0.010, 90, seed=5), *noisy(0.005, 2000, seed=6)]
    loop = Loop(warmup=None, nloops=None, seconds=1.0)
    samples = Machine(durations).run(loop)
    # As long again by the clock, or as many iterations again: whichever is over first.
    assert 1.4 < sum(samples[1:]) / 1e9 < 2.1
    assert timed_part(loop, [samples]).steady_from >= 91


def test_no_steady_state_is_judged_by_the_later_half() -> None:
    chance, level, durations = random.Random(2), 0.01, [1.0]
    for index in range(2000):
        if index % 40 == 0:
            level = chance.choice([0.004, 0.007, 0.01, 0.02])
        durations.append(level * math.exp(chance.gauss(0, 0.005)))
    loop = Loop(warmup=None, nloops=None, seconds=1.5)
    samples = Machine(durations).run(loop)
    part = timed_part(loop, [samples])
    assert (part.classification, part.steady_from, part.starts_steady) == ("no_steady_state", len(samples) // 2, False)


def test_nloops_alone_counts_from_the_end_and_waits_for_the_steady_state() -> None:
    slow_start = [1.0, *noisy(0.010, 30, seed=7), *noisy(0.005, 2000, seed=8)]
    loop = Loop(warmup=None, nloops=25, seconds=1.0)
    samples = Machine(slow_start).run(loop)
    part = timed_part(loop, [samples])
    assert len(samples) - part.steady_from == 25
    assert len(samples) == 2 * (10 + 25)
    assert part.starts_steady
    assert len(Machine([1.0, *noisy(0.005, 2000)]).run(loop)) == 10 + 25


def test_the_worse_phase_names_the_class_and_the_later_one_the_beginning() -> None:
    loop = Loop(warmup=None, nloops=None, seconds=1.0)
    flat = [round(1e9 * one) for one in [1.0, *noisy(0.01, 200)]]
    late = [round(1e9 * one) for one in [1.0, *noisy(0.02, 50, seed=2), *noisy(0.01, 150, seed=3)]]
    part = timed_part(loop, [flat, late])
    assert part.classification == "warmup"
    assert 51 <= part.steady_from <= 54


@pytest.mark.parametrize(
    ("samples", "expected"),
    [([5], (1, "too_few")), ([5, 6, 7], (1, "too_few")), ([0] * 30, (1, "flat")), ([10**18] * 12, (1, "flat"))],
)
def test_few_constant_and_unmeasurable_samples(samples: list[int], expected: tuple[int, str]) -> None:
    part = timed_part(Loop(warmup=None, nloops=None, seconds=1.0), [samples])
    assert (part.steady_from, part.classification) == expected
