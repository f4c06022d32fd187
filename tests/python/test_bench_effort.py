"""How much a bench measures: rules to stop by, CPUs, numbers of processes and the order in which they run."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice

import pytest

from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.bench_plan import rounds
from fastrnns_rs.verbs.bench.effort import Effort, StopRule, make_loop, parse_rule, seconds_within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("precision:1%", StopRule(rule="precision", value=0.01)),
        ("precision:0.005", StopRule(rule="precision", value=0.005)),
        ("precision:0.5%:20m", StopRule(rule="precision", value=0.005, limit_s=1200.0)),
        ("time:30s", StopRule(rule="time", value=30.0)),
        ("time:1.5h", StopRule(rule="time", value=5400.0)),
        ("time:250ms", StopRule(rule="time", value=0.25)),
        ("count:100", StopRule(rule="count", value=100)),
    ],
)
def test_rules(text: str, expected: StopRule) -> None:
    assert parse_rule(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "precision", "precision:", "precision:0%", "precision:100%", "precision:-1%", "precision:nan%"),
        *("precision:1e999", "precision:1%:", "precision:1%:20", "precision:1%:20m:3", "significance:5%", "p:0.05"),
        *("time:30", "time:0s", "time:s", "time:1e99h", "time:1.2.3s", "time:\u0663s", "count:\u0661", "count:0"),
        *("count:1.5", "count:-1", "count:1e3", "count:100:2s", "count:99999999999"),
    ],
)
def test_what_is_no_rule_is_told_what_is(text: str) -> None:
    with pytest.raises(UsageError, match=r"invalid value: .* \(stop\)\. Use precision:1%"):
        parse_rule(text)


def test_a_rule_becomes_a_loop() -> None:
    usual = {"warmup": None, "processes": 5, "seconds": 2.0}
    assert make_loop(None, nloops=None, **usual).seconds == 2.0
    assert make_loop(parse_rule("time:30s"), nloops=None, **usual).seconds == 6.0
    assert make_loop(parse_rule("count:100"), nloops=None, **usual).nloops == 100
    assert make_loop(parse_rule("precision:1%"), nloops=7, **usual).nloops == 7
    for rule in ("time:30s", "count:100"):
        with pytest.raises(UsageError, match="`nloops` and `stop` exclude"):
            make_loop(parse_rule(rule), nloops=7, **usual)


def test_numbers_of_processes() -> None:
    assert Effort().count_processes(5, quick=False) == 5
    assert Effort(rigorous=True).count_processes(5, quick=False) == 20
    assert Effort(processes=2, rigorous=True).count_processes(5, quick=False) == 2
    # An interval from one process is none to stop by.
    assert Effort(stop="precision:1%").count_processes(1, quick=True) == 5
    assert Effort(stop="precision:1%", processes=2).count_processes(5, quick=False) == 5
    assert Effort(stop="precision:1%", rigorous=True).count_processes(5, quick=False) == 20
    with pytest.raises(UsageError, match="`quick` and `rigorous`"):
        Effort(rigorous=True).count_processes(1, quick=True)
    for wrong in ({"processes": 0}, {"processes": 2.5}, {"processes": True}, {"order_seed": -1}, {"stop": 3}):
        with pytest.raises(UsageError):
            Effort(**wrong)


def test_a_default_run_stays_within_its_ten_minutes() -> None:
    assert seconds_within(2.0, 60, start_s=3.0) == 2.0
    assert seconds_within(2.0, 60, start_s=8.0) == 1.0
    assert seconds_within(2.0, 60, start_s=30.0) == 0.5
    for start_s in (1.0, 4.0, 8.0):
        assert 60 * (start_s + 2 * seconds_within(2.0, 60, start_s)) <= 600


def test_cpus() -> None:
    mine = sorted(os.sched_getaffinity(0))
    first, last = mine[0], mine[-1]
    assert Effort().cpus() is None
    assert Effort(affinity=f" {first}").cpus() == (first,)
    assert Effort(affinity=f"{first}-{first},{last}").cpus() == tuple(sorted({first, last}))
    for wrong in ("", "a", "1-", "-1", "3-1", "0,,1", "0;1", "999999999"):
        with pytest.raises(UsageError, match=".affinity."):
            Effort(affinity=wrong).cpus()
    with pytest.raises(UsageError, match=r"99999 \(affinity\)"):
        Effort(affinity="99999").cpus()


def test_rounds_have_each_runner_once_and_begin_with_every_one_alike() -> None:
    found = [turns for turns, _ in islice(rounds(4, 7), 4000)]
    assert all(sorted(turns) == [0, 1, 2, 3] for turns in found)
    firsts = Counter(turns[0] for turns in found)
    # Binomial: 1000 expected, a standard deviation of 27.
    assert all(abs(count - 1000) < 5 * 27 for count in firsts.values())
    assert [turns for turns, _ in islice(rounds(4, 7), 50)] == found[:50]
    assert [turns for turns, _ in islice(rounds(4, 8), 50)] != found[:50]


def test_pairs_are_in_either_order_by_chance() -> None:
    found = list(islice(rounds(2, 3), 1000))
    kinds = Counter(tuple(turns) for turns, _ in found)
    assert kinds.keys() == {(0, 1), (1, 0)}
    assert abs(kinds[0, 1] - 500) < 5 * 16
    assert [quota for _, quota in found[:3]] == [1, 2, 3]


def test_sides_of_several_runners_remain_neighbours() -> None:
    found = [turns for turns, _ in islice(rounds(6, 5, 2), 6000)]
    assert all(sorted(turns) == [*range(6)] for turns in found)
    # Each pair is in one piece: 6 orders of the runners, and 2 orders of each pair.
    kinds = Counter(tuple(turns) for turns in found)
    assert all({one[place] // 2 for place in (at, at + 1)} == {one[at] // 2} for one in kinds for at in (0, 2, 4))
    assert len(kinds) == 6 * 2**3
    # Binomial: 125 expected, a standard deviation of 11.
    assert all(abs(count - 125) < 5 * 11 for count in kinds.values())
