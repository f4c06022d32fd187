"""Warnings after a run: warm-up, clock, number of processes, and files that are not what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from warned_runs import process, result, run

from fastrnns_rs.documents.run_file import Result, Run, Stop
from fastrnns_rs.machine.warnings import check_samples
from fastrnns_rs.machine.warnings.findings import format_duration


def noise(generator: np.random.Generator, n: int) -> np.ndarray:
    return 1e6 * np.exp(0.01 * generator.standard_normal(n))


def steady(count: int = 5, **other: Any) -> Result:
    generator = np.random.default_rng(1)
    return result("cudnn", [process(order, noise(generator, 60)) for order in range(count)], **other)


def evidence(measured: Run) -> dict[str, str]:
    return {one.code: str(one.evidence) for one in check_samples(measured)}


def test_a_sound_run_has_nothing_to_tell() -> None:
    assert check_samples(run(steady())) == []
    assert check_samples(run()) == []


@pytest.mark.parametrize(("count", "codes"), [(1, {"one_process"}), (2, {"two_processes"}), (3, set()), (20, set())])
def test_the_number_of_processes(count: int, codes: set[str]) -> None:
    assert set(evidence(run(steady(count)))) == codes


def test_processes_that_failed_are_not_counted() -> None:
    generator = np.random.default_rng(2)
    processes = [process(order, noise(generator, 60)) for order in range(2)]
    failed = process(2, [1, 2, 3], status="failed", steady_from=None)
    assert set(evidence(run(result("jit", [*processes, failed])))) == {"two_processes"}


def test_a_handful_of_names_and_how_many_more() -> None:
    names = [f"r{index}" for index in range(8)]
    alone = [result(name, [process(0, [1e6])]) for name in names]
    assert evidence(run(*alone))["one_process"] == "1 process of every runner"
    assert evidence(run(*alone, steady()))["one_process"] == "1 process of r0; r1; r2; r3; r4; and 3 more"
    sides = [result("jit", [process(0, [1e6])], side=side) for side in ("a", "b")]
    assert evidence(run(*sides, steady()))["one_process"] == "1 process of jit (a); jit (b)"


@pytest.mark.parametrize("code", ["no_steady_state", "slowdown"])
def test_classes_that_are_no_good(code: str) -> None:
    named = result("jit", [process(order, [1e6] * 20, warmup_class=code) for order in range(5)], warmup_class=code)
    assert evidence(run(named, steady())) == {code: "jit"}


@pytest.mark.parametrize("code", ["flat", "warmup", "too_few", None])
def test_classes_that_are(code: str | None) -> None:
    assert check_samples(run(steady(warmup_class=code))) == []


@pytest.mark.parametrize(
    ("classes", "told"),
    [
        (["flat"] * 4 + ["slowdown"], None),
        (["flat", "flat", "warmup", "warmup", "too_few"], None),
        (["flat"] * 3 + ["slowdown", "no_steady_state"], "jit: 3 flat, 1 slowdown, 1 no_steady_state"),
        (["flat"] * 18 + ["no_steady_state"] * 2, None),
        (["flat"] * 17 + ["no_steady_state"] * 3, "jit: 17 flat, 3 no_steady_state"),
    ],
)
def test_processes_that_do_not_agree(classes: list[str], told: str | None) -> None:
    processes = [process(order, [1e6] * 20, warmup_class=one) for order, one in enumerate(classes)]
    found = evidence(run(result("jit", processes, warmup_class="inconsistent")))
    assert found.get("inconsistent_warmup") == told


def warming(ends: int, count: int = 5, steady_from: int = 10, total: int = 200, **other: Any) -> Result:
    """Processes that are 20 % slower before an iteration."""
    generator = np.random.default_rng(3)
    slow = np.where(np.arange(total) < ends, 1.2, 1.0)
    draws = [slow * noise(generator, total) for _ in range(count)]
    processes = [
        process(i, one, one / 2, steady_from=steady_from, warmup_class="warmup") for i, one in enumerate(draws)
    ]
    return result("jit", processes, **{"warmup_class": "warmup", **other})


@pytest.mark.parametrize(("ends", "told"), [(5, False), (10, False), (16, False), (60, True)])
def test_a_fixed_warmup_that_is_too_short(ends: int, told: bool) -> None:
    found = evidence(run(warming(ends), fixed=10))
    assert ("warmup_not_over" in found) is told
    if told:
        assert found["warmup_not_over"] == "jit: steady from iteration 60, timed from iteration 10"


def test_where_the_warmup_is_detected_it_is_not_looked_for_again() -> None:
    assert "warmup_not_over" not in evidence(run(warming(60)))
    # An exact number of timed iterations may leave none for the warm-up.
    made = run(warming(60), rule="count")
    assert "warmup_not_over" in evidence(made)
    stops = [Stop(rule="precision", parameters={"nloops": 90.0}), Stop(rule="decided", parameters={"nloops": 90.0})]
    for stop in stops:
        assert "warmup_not_over" in evidence(replace(made, plan=replace(made.plan, stop=stop)))


def test_two_processes_must_agree() -> None:
    late, early = warming(60).processes, warming(5).processes
    for processes, told in ((late[:1], True), ([*late[:2], early[0]], True), ([late[0], *early[1:3]], False)):
        assert ("warmup_not_over" in evidence(run(result("jit", processes), fixed=10))) is told


@pytest.mark.parametrize(
    ("resolution", "told"),
    [
        (10_001, "jit/forward: tick 10 µs, time 1 ms, 1.0 %; jit/backward: tick 10 µs, time 500 µs, 2.0 %"),
        (10_000, "jit/backward: tick 10 µs, time 500 µs, 2.0 %"),
        (5_000, None),
        (0, None),
        (None, None),
    ],
)
def test_a_clock_that_is_too_coarse(resolution: int | None, told: str | None) -> None:
    short = result("jit", [process(i, [1e6] * 20, [5e5] * 20) for i in range(5)], timer_resolution_ns=resolution)
    assert evidence(run(short)).get("coarse_clock") == told


def test_a_phase_that_the_clock_does_not_see() -> None:
    unseen = result("jit", [process(order, [0] * 20) for order in range(5)], timer_resolution_ns=500)
    assert evidence(run(unseen)) == {"coarse_clock": "jit/forward: tick 500 ns, time 0 ns, 100 %"}


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"),
        (999.4, "999 ns"),
        (999.6, "1 µs"),
        (12_345, "12.3 µs"),
        (999_999, "1 ms"),
        (5e8, "500 ms"),
        (1.5e9, "1.5 s"),
        (1.2345e12, "1230 s"),
    ],
)
def test_durations_have_three_digits(nanoseconds: float, text: str) -> None:
    assert format_duration(nanoseconds) == text


@pytest.mark.parametrize(
    "odd",
    [
        process(0, []),
        process(0, [1e6] * 3, steady_from=3),
        process(0, [1e6] * 3, steady_from=None),
        process(0, [1e6] * 3, steady_from=-1),
        process(0, [1e6] * 3, []),
        process(0, [1e6, -5, 0]),
        process(0, [10**400, 1]),
        process(0, [1e6], status="ok", warmup_class="nonsense"),
    ],
)
def test_odd_processes_are_left_out(odd: Any) -> None:
    others: Sequence[Any] = steady().processes
    mixed = result("jit", [*others[:4], process(4, others[4].forward_ns)])
    mixed.processes.append(odd)
    for fixed in (None, 1):
        assert set(evidence(run(mixed, fixed=fixed))) <= {"several_modes"}


def test_runners_without_numbers_are_left_out() -> None:
    failed = result("jit", [], status="failed", reason="no")
    assert check_samples(run(failed, steady())) == []
