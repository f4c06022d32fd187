"""Checks of `ab --same`: their numbers against scipy, what they are called, and earlier sessions of a history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from noise_floors import PAIRS, gauss, same_run

from fastrnns_rs.documents.noise_floor import NoiseFloor, NoiseFloorDocument
from fastrnns_rs.documents.self_check import SelfCheck
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise.process_pairs import ProcessPair, find_pairs
from fastrnns_rs.machine.noise.run_checks import check_pairs, check_run, check_time
from fastrnns_rs.verbs.ab.self_comparison import PhaseSessions, check_session, measure_self
from fastrnns_rs.verbs.compare.session_spread import PastSession
from fastrnns_rs.verbs.history.run_history import RunHistory, open_past
from fastrnns_rs.views import noise as views


def paired(logs: Sequence[float], flips: Sequence[bool] = (False, True) * 10) -> list[ProcessPair]:
    """Consecutive processes as pairs; the second side is first in flipped pairs."""
    times = [1e6 * math.exp(one) for one in logs]
    return [
        ProcessPair(
            baseline_ns=times[2 * place + flipped],
            candidate_ns=times[2 * place + 1 - flipped],
            baseline_first=not flipped,
        )
        for place, flipped in enumerate(flips)
    ]


def findings(logs: Sequence[float]) -> dict[str, str]:
    return {one.check: one.finding for one in check_run({"forward": paired(logs)})}


def test_pairs_are_compared_by_the_paired_t_of_scipy_over_all_phases() -> None:
    first, second = ([math.exp(one) for one in gauss(PAIRS, seed=seed)] for seed in (1, 2))
    slower = [1.03 * one for one in second]
    found = check_pairs("sides", {"forward": (first, second), "backward": (first, slower)})
    expected = scipy.stats.ttest_rel(np.log(slower), np.log(first))
    assert found.p_value == pytest.approx(2 * expected.pvalue)
    low, high = expected.confidence_interval(1 - 0.025 / 2)
    assert (found.ratio_ci_low, found.ratio_ci_high) == pytest.approx((math.exp(low), math.exp(high)))
    assert (found.phase, found.finding) == ("backward", "difference")
    found = check_pairs("sides", {"forward": (first, second)})
    assert (found.finding, found.p_value) == (
        "none",
        pytest.approx(scipy.stats.ttest_rel(*map(np.log, (second, first)))[1]),
    )


def test_each_fault_has_its_name_and_no_other() -> None:
    logs = gauss(2 * PAIRS, 0.005)
    none = {"sides": "none", "launch_order": "none", "time": "none"}
    flips = (False, True) * 10
    on_b = [one + 0.03 * ((place % 2 == 0) == flips[place // 2]) for place, one in enumerate(logs)]
    assert findings(logs) == none
    assert findings(on_b) == {**none, "sides": "difference"}
    assert findings([one + 0.03 * (place % 2) for place, one in enumerate(logs)]) == {
        **none,
        "launch_order": "difference",
    }
    assert findings([one + 0.1 * place / 39 for place, one in enumerate(logs)]) == {**none, "time": "drift"}
    assert findings([one + 0.05 * (place >= 20) for place, one in enumerate(logs)]) == {**none, "time": "jump"}


def test_a_drift_and_a_jump_have_their_size_and_place() -> None:
    logs = gauss(2 * PAIRS, 0.003)
    drift = check_time(paired([one + math.log(0.9) * place / 39 for place, one in enumerate(logs)]))
    assert (drift.finding, drift.ratio) == ("drift", pytest.approx(0.9, abs=0.01))
    jump = check_time(paired([one + math.log(1.05) * (place >= 12) for place, one in enumerate(logs)]))
    assert (jump.finding, jump.ratio) == ("jump", pytest.approx(1.05, abs=0.005))
    assert (jump.after_process, jump.n_jumps) == (12, 1)
    both = check_time(paired([one + 0.05 * (8 <= place < 24) for place, one in enumerate(logs)]))
    assert (both.finding, both.n_jumps) == ("jump", 2)


def test_a_launch_order_is_not_confused_with_a_drift() -> None:
    """20 % over the run make the second of each pair 0.5 % slower."""
    found = check_run({"forward": paired([one + 0.2 * place / 39 for place, one in enumerate(gauss(40, 0.001))])})
    assert [one.finding for one in found] == ["none", "none", "drift"]


@pytest.mark.parametrize(
    "logs",
    [
        [0.0] * 40,
        [*[0.0] * 39, 2.0],
        [*[0.0] * 20, *[0.5] * 20],
        [place / 10 for place in range(40)],
        gauss(40, 1e-12),
        [100 * one for one in gauss(40, 1.0)],
    ],
)
def test_nasty_times_have_findings(logs: list[float]) -> None:
    for one in check_run({"forward": paired([max(-100.0, min(one, 100.0)) for one in logs])}):
        assert one.ratio is None or math.isfinite(one.ratio)


def test_equal_times_and_one_outlier_are_no_difference() -> None:
    assert set(findings([0.0] * 40).values()) == {"none"}
    assert set(findings([*gauss(39), 1.0]).values()) == {"none"}
    assert findings([*[0.0] * 20, *[0.5] * 20])["time"] == "jump"
    assert findings([place / 100 for place in range(40)])["time"] == "drift"


def self_check(floor: NoiseFloor, name: str) -> SelfCheck:
    return next(one for one in floor.checks if one.check == name)


def test_pairs_come_in_the_order_of_the_run() -> None:
    made = same_run()
    mixed = [replace(one, processes=one.processes[::-1]) for one in made.results]
    assert find_pairs(replace(made, results=mixed)) == find_pairs(made)
    assert [one.baseline_first for one in find_pairs(made)["forward"]] == [True, False] * 10
    first = made.results[0]
    broken = [replace(one, status="failed", steady_from=None) if one.index == 3 else one for one in first.processes]
    pairs = find_pairs(replace(made, results=[replace(first, processes=broken), made.results[1]]))
    assert len(pairs["forward"]) == PAIRS - 1
    assert [*find_pairs(same_run(backward=False))] == ["forward"]
    with pytest.raises(UsageError, match="1 runner on 2 sides"):
        find_pairs(replace(made, results=made.results[:1]))


def test_a_side_that_is_slower_is_said() -> None:
    floor = measure_self(same_run(bias=math.log(1.03)), None)
    found = self_check(floor, "sides")
    assert (found.finding, found.ratio) == ("difference", pytest.approx(1.03, abs=0.005))
    assert views.answer(floor).startswith("Differences found: side b +3.")
    assert len(views.differences(floor)) == 1
    # Random labels hide it.
    assert floor.false_alarm_rate < 0.08


def test_earlier_sessions_are_known_from_three_and_a_figure_from_eight(tmp_path: object) -> None:
    history = RunHistory(tmp_path)  # type: ignore[arg-type]
    levels = gauss(10, 0.005, seed=3)
    for number in range(9):
        now = same_run(number, level=levels[number])
        history.keep(now)
        if number not in {2, 3, 6, 7, 8}:
            continue
        with open_past(history) as past:
            floor = measure_self(now, past)
        session = self_check(floor, "session")
        assert (floor.n_sessions, session.n_sessions) == (number + 1, number)
        assert (session.finding == "unknown") == (number < 3)
        assert (floor.between_sessions_change is None) == (number < 7)
    assert floor.between_sessions_change is not None
    assert 1.5 * floor.minimum_detectable_change < floor.between_sessions_change < 0.04
    far = same_run(9, level=0.1)
    with open_past(history) as past:
        floor = measure_self(far, past)
    assert self_check(floor, "session").finding == "difference"
    assert "this session +" in views.answer(floor)
    assert "against 9 earlier sessions" in views.answer(floor)


def test_a_phase_that_the_clock_does_not_resolve_has_no_floor() -> None:
    made = same_run()
    rows = [
        replace(row, processes=[replace(one, backward_ns=[0] * len(one.forward_ns)) for one in row.processes])
        for row in made.results
    ]
    floor = measure_self(replace(made, results=rows), None)
    assert floor.phase == "forward"
    assert {one.phase for one in floor.checks} == {"forward", None}


@pytest.mark.parametrize(("factor", "is_known"), [(9.0, True), (1e9, False)])
def test_a_machine_of_two_speeds_has_a_floor(factor: float, is_known: bool) -> None:
    """The command ended as a fault of the program, after the measurement."""

    class Known:
        def equal(self, _kinds: object) -> list[PastSession]:
            means = [math.log(1e6) + number % 2 * math.log(factor) for number in range(500)]
            return [
                PastSession(session=f"{number}", kind="k", n_processes=40, mean=mean, variance=1e-4)
                for number, mean in enumerate(means)
            ]

        def comparable(self, _families: object) -> list[PastSession]:
            return []

    floor = NoiseFloorDocument.from_dict(NoiseFloorDocument(noise_floor=measure_self(same_run(), Known())).to_dict())
    found = floor.noise_floor
    assert (found.n_sessions, found.between_sessions_change is not None) == (501, is_known)
    # By Student's t of many sessions it is 2.8 standard errors.
    error = math.sqrt(2) * math.log(factor) / 2
    assert found.between_sessions_change is None or 2.8 < math.log1p(found.between_sessions_change) / error < 3


def test_the_figure_between_sessions_is_what_the_t_of_two_sessions_detects() -> None:
    class Known:
        """Eight earlier sessions, in both phases."""

        def equal(self, _kinds: object) -> list[PastSession]:
            logs = gauss(8, 0.01, seed=8)
            rows = [PastSession(session=f"{one}", kind="k", n_processes=40, mean=one, variance=1e-4) for one in logs]
            return [replace(one, mean=one.mean + math.log(1e6)) for one in rows]

        def comparable(self, _families: object) -> list[PastSession]:
            return []

    made = same_run(backward=False)
    floor = measure_self(made, Known())
    times = [time for one in find_pairs(made)["forward"] for time in (one.baseline_ns, one.candidate_ns)]
    means = [one.mean for one in Known().equal([])] + [float(np.log(times).mean())]
    error = math.sqrt(2) * np.std(means, ddof=1)
    assert floor.between_sessions_change is not None
    shift = math.log1p(floor.between_sessions_change) / error
    # The verdict of `compare` by the history: Student's t with 8 degrees of freedom.
    power = scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, 8), 8, shift)
    assert power == pytest.approx(0.8, abs=0.003)


def test_a_session_is_predicted_as_by_scipy() -> None:
    def session(mean: float, count: int = 40) -> PastSession:
        return PastSession(session=f"{mean}", kind="k", n_processes=count, mean=mean, variance=1e-4)

    levels = gauss(5, seed=4)
    earlier = [session(one) for one in levels]
    error = math.sqrt(np.var(levels, ddof=1) * (1 + 1 / 5))
    found = check_session({"forward": PhaseSessions(now=session(0.02), earlier=earlier)})
    shift = (0.02 - float(np.mean(levels))) / error
    assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(shift), 4))
    # A session of one process varies more than the earlier ones.
    few = check_session({"forward": PhaseSessions(now=session(0.02, 1), earlier=earlier)})
    assert few.p_value is not None
    assert few.p_value > (found.p_value or 1)
    unknown = check_session({"forward": PhaseSessions(now=session(0.02), earlier=earlier[:2])})
    assert (unknown.finding, unknown.n_sessions) == ("unknown", 2)


def test_the_answer_is_one_line_and_the_figures_fit_80_columns() -> None:
    floor = measure_self(same_run(), None)
    lines = views.lines(floor, 80)
    assert lines[1].text.startswith("No difference found: sides ±")
    assert lines[1].text.endswith("no drift, no jump.")
    assert max(len(one.text) for one in lines) <= 80
    assert len(lines) <= 7
    assert "Sessions: not checked, because runs are not kept in the history." in [one.text for one in lines]
    assert "cannot show a bias" in lines[-1].text
    jumps = SelfCheck(check="time", finding="jump", ratio=1.05, after_process=21, n_jumps=1)
    drift = SelfCheck(check="time", finding="drift", ratio=1.1, p_value=1e-9)
    assert views.answer(replace(floor, checks=[jumps])) == "Differences found: jump: +5.0 % after process 21."
    assert views.answer(replace(floor, checks=[replace(jumps, n_jumps=2)])).endswith(
        "2 jumps, the largest +5.0 % after process 21."
    )
    assert views.answer(replace(floor, checks=[drift])) == "Differences found: drift: +10 % over the run."
    assert views.answer(replace(floor, checks=[])) == ""
